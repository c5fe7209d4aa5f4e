"""Runs the Python programs, the failing and the corrected ones, on the software device, and compares their output and the
device's reports with `fails.expected` and `cure.expected`.

    python3 run.py FOLDER               FOLDER has libcuda.so.1, the software device
    python3 run.py FOLDER overwrite     records the output

Only the last line of a traceback is compared, because the rest differs between versions of Python.
"""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def without_tracebacks(text):
    kept, inside = [], False
    for line in text.splitlines():
        if line.startswith("Traceback "):
            inside = True
        elif not (inside and line.startswith(" ")):
            inside = False
            kept.append(line)
    return kept


def said(program, folder):
    """The output of a program and the device, in order, and the exit status."""
    checks = [line.split()[1:] for line in program.read_text().splitlines() if line.startswith("Checks: ")]
    variables = dict(check.split("=") for line in checks for check in line)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUPRUM_")}
    environment |= {"LD_LIBRARY_PATH": folder, "PYTHONPATH": str(HERE), "PYTHONUNBUFFERED": "1"} | variables
    done = subprocess.run(
        [sys.executable, program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    end = f"(killed by signal {-done.returncode})" if done.returncode < 0 else f"(ends with {done.returncode})"
    # Wherever the repository is.
    text = done.stdout.replace(f"{HERE}/", "")
    return "\n".join([*without_tracebacks(text), end, ""])


def main(folder, overwrite=None):
    programs, wrong = sorted([*HERE.glob("*/fails.py"), *HERE.glob("*/cure.py")]), 0
    for program in programs:
        expected, text = program.with_suffix(".expected"), said(program, str(pathlib.Path(folder).resolve()))
        if overwrite == "overwrite":
            expected.write_text(text)
        elif expected.read_text() != text:
            wrong += 1
            print(f"{program.parent.name}/{program.name} printed something else:\n{text}\ninstead of\n{expected.read_text()}")
    assert len(programs) == 16 and not wrong, f"{wrong} of {len(programs)} programs printed something else"
    print(f"{len(programs)} programs: the output of each is as recorded")


main(*sys.argv[1:])
