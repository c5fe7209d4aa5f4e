"""Measures the packed programs beside each other, and writes what they answered.

    python3 measure.py FOLDER [--rounds N] [--seconds S] [--fewer K] [--without LAYER]...

Each layer is a process of its own, which answers how long an operation takes. All are asked for the same operation in
turn, so that whatever machine and driver do meets each; the first to be asked changes from round to round. FOLDER gets
`compare.json`, which report.py makes a table and a plot of. Needs python3 with NumPy; a layer that does not start or
fails is named, and the end is a failure, but the others are measured.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import select
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SECONDS_FOR_AN_ANSWER = 60

# How often each operation runs in a turn, which takes a millisecond or so.
TIMES = {
    "launch": 200,
    "launch_arguments": 200,
    "launch_wait": 100,
    "to_device": 100,
    "to_host": 100,
    "alloc": 50,
    "alloc_ordered": 100,
    "event": 50,
    "graph": 50,
    "saxpy": 10,
}
LAYERS = {
    "C": ["driver"],
    "cuprum": ["with_cuprum"],
    "cudarc": ["with_cudarc"],
    "PyCUDA": [sys.executable, "with_pycuda.py"],
    "cuda.core": [sys.executable, "with_cuda_core.py"],
    "CuPy": [sys.executable, "with_cupy.py"],
}
# Those of which the machine's own packages are measured.
AS_INSTALLED = ["CuPy"]


class Failure(Exception):
    """A layer that does not answer, with the end of what it said."""


class Layer:
    """A process that is asked."""

    def __init__(self, command, kernels, environment):
        self.complaints = tempfile.TemporaryFile()
        program = [part if os.path.isabs(part) else str(HERE / part) for part in command]
        if not os.access(program[0], os.X_OK):
            os.chmod(program[0], 0o755)  # What carried it may not have kept that.
        self.process = subprocess.Popen(
            program + kernels,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            env=environment,
            bufsize=0,
        )

    def answer(self):
        """The next line; the descriptor is not buffered, and a line comes whole."""
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS_FOR_AN_ANSWER)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            self.process.kill()
            self.process.wait()
            self.complaints.seek(0)
            said = self.complaints.read().decode(errors="replace").strip().splitlines()
            raise Failure("; ".join(said[-3:]) or f"ended with {self.process.returncode}, or said nothing in time")
        return line.decode().strip()

    def ask(self, operation, times):
        """Nanoseconds of one time, None if the layer does not have the operation, or what its error says."""
        try:
            self.process.stdin.write(f"{operation} {times}\n".encode())
        except BrokenPipeError:
            pass  # It has ended; why, its end says.
        answer = self.answer()
        return None if answer == "-" else answer[2:] if answer.startswith("!") else float(answer)

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(SECONDS_FOR_AN_ANSWER)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def said_by(*command):
    """What a program of the machine prints, or nothing."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip()
    except OSError:
        return ""


def machine():
    commit = HERE / "commit"
    asked = said_by("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit.read_text().strip() if commit.exists() else "",
        "gpu": asked[0] if asked else "no GPU",
        "host": f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} CPUs",
        "python": platform.python_version(),
    }


def environments(folder):
    """For packages that were carried, and for those of the machine."""
    own = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    wheels = sorted(str(wheel) for wheel in (HERE / "wheels").glob("*.whl"))
    if not wheels:
        return own, own
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--no-compile", "--target", folder, *wheels], check=True)
    return own, own | {"PYTHONPATH": folder}


class Measurement:
    """All that is asked, and what came back."""

    def __init__(self, layers, failures):
        self.layers = layers
        self.failures = failures
        self.rounds = {operation: [] for operation in TIMES}
        self.no_more = set()

    def failed(self, name, failure):
        """Says so, and goes on with the others."""
        self.failures[name] = "; ".join(filter(None, [self.failures.get(name), str(failure)]))
        print(f"{name}: {failure}", file=sys.stderr)

    def ask(self, name, operation, times):
        if name not in self.layers or (name, operation) in self.no_more:
            return None
        try:
            answer = self.layers[name].ask(operation, times)
        except Failure as failure:
            del self.layers[name]
            answer = str(failure)
        if isinstance(answer, str):
            self.failed(name, f"{operation}: {answer}")
            self.no_more.add((name, operation))
            return None
        return answer

    def round(self, number, fewer):
        for operation, times in TIMES.items():
            names = list(self.layers)
            first = number % max(len(names), 1)
            order = names[first:] + names[:first]
            answers = {name: self.ask(name, operation, max(times // fewer, 1)) for name in order}
            self.rounds[operation].append(answers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=90, help="after which no round begins")
    parser.add_argument("--fewer", type=int, default=1, help="divides how often an operation runs in a turn")
    parser.add_argument("--without", action="append", default=[], choices=list(LAYERS))
    options = parser.parse_args()

    kernels = [str(HERE / "empty.ptx"), str(HERE / "saxpy.ptx")]
    about, layers, failures = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        installed, carried = environments(folder)
        measurement = Measurement(layers, failures)
        for name, command in LAYERS.items():
            if name in options.without:
                continue
            try:
                layers[name] = Layer(command, kernels, installed if name in AS_INSTALLED else carried)
                about[name] = layers[name].answer()
            except (Failure, OSError) as failure:
                layers.pop(name, None)
                measurement.failed(name, failure)
        end = time.monotonic() + options.seconds
        for number in range(options.rounds + 1):
            if number < 2 or time.monotonic() < end:
                measurement.round(number, options.fewer)
        for layer in layers.values():
            layer.end()
    # The first round loads code and maps memory.
    rounds = {operation: answers[1:] for operation, answers in measurement.rounds.items()}
    result = {"machine": machine(), "layers": about, "times": TIMES, "failures": failures, "rounds": rounds}
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "compare.json").write_text(json.dumps(result))
    print(f"{len(layers)} layers, {len(rounds['launch'])} rounds: {options.folder / 'compare.json'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
