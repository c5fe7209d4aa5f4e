"""`cuda-software [options] -- program arguments...`: runs a program on the software device."""

import argparse
import os
import signal
import subprocess
import sys
import tempfile

import cuda_software
from cuda_software.reports import Reports, mistakes, summary

#: Exit codes, beside the program's own and 128 + a signal's number.
MISTAKES, CANNOT, NOT_EXECUTABLE, NOT_FOUND = 86, 125, 126, 127


def parser():
    made = argparse.ArgumentParser(
        prog="cuda-software",
        description="Runs a program on a CUDA driver in software: no GPU is needed, and what kernels do wrong is reported.",
        epilog=f"Ends with the program's code, or with {MISTAKES} if that is 0 and a fault or a leak was reported.",
        usage="cuda-software [options] -- program [arguments]",
        allow_abbrev=False,
    )
    made.add_argument("--check", action="store_true", help="all four checks")
    texts = {
        "initcheck": "reads of what nobody wrote",
        "racecheck": "races",
        "racecheck-atomic-reads": "with it, plain reads of what others change by atomic instructions",
        "synccheck": "barriers and shuffles that some threads miss",
        "leakcheck": "what contexts and the process leave behind",
    }
    for name in cuda_software.SWITCHES:
        made.add_argument(f"--{name}", action="store_true", help=texts[name])
    for name, text in cuda_software.VALUES.items():
        made.add_argument(f"--{name}", metavar="VALUE", help=text)
    made.add_argument("--library", metavar="PATH", help="another library of the software device")
    made.add_argument("--version", action="store_true", help="say which library it is, and end")
    made.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return made


def options_of(given):
    """The settings on a command line, as pairs of names and values."""
    on = {name for name in cuda_software.SWITCHES if getattr(given, name.replace("-", "_"))}
    if given.check:
        on |= set(cuda_software.ALL_CHECKS)
    values = {name: getattr(given, name.replace("-", "_")) for name in cuda_software.VALUES}
    return [(name, "1") for name in sorted(on)] + [(name, value) for name, value in values.items() if value is not None]


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    given = parser().parse_args(arguments)
    program = given.program[1:] if given.program[:1] == ["--"] else given.program
    if given.library:
        os.environ["CUPRUM_SOFTWARE_LIBRARY"] = given.library
    try:
        environment = os.environ | cuda_software.environment(options_of(given))
        if given.version:
            print(cuda_software.library())
            return 0
    except OSError as error:
        print(f"cuda-software: {error}", file=sys.stderr)
        return CANNOT
    if not program:
        parser().error("a program is missing behind `--`")
    # One file for a whole tree of processes; a run within a run reports to the outer one as well.
    with tempfile.TemporaryDirectory(prefix="cuda-software-") as folder:
        file = environment.setdefault(cuda_software.REPORT_FILE, os.path.join(folder, "reports"))
        reports = Reports(file)
        reports.new()
        code = started(program, environment)
        new = reports.new()
    # Faults were printed when they came.
    if new:
        print(summary(new), file=sys.stderr)
    return MISTAKES if code == 0 and mistakes(new) else code


def started(program, environment):
    """Runs a program to its end; signals of the terminal are its own affair."""
    try:
        child = subprocess.Popen(program, env=environment)
    except FileNotFoundError:
        print(f"cuda-software: there is no program {program[0]}", file=sys.stderr)
        return NOT_FOUND
    except OSError as error:
        print(f"cuda-software: {program[0]}: {error.strerror}", file=sys.stderr)
        return NOT_EXECUTABLE
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: child.send_signal(number))
    code = child.wait()
    signal.signal(signal.SIGINT, before)
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    sys.exit(main())
