"""`cuda-software [options] -- program arguments...`: runs a program on the software device, as `cuprum run` does."""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

import cuda_software
from cuda_software.reports import Reports, counted, mistakes

#: Exit codes, beside the program's own and 128 + a signal's number.
FOUND, CANNOT, NOT_EXECUTABLE, NOT_FOUND = 99, 125, 126, 127


def parser():
    made = argparse.ArgumentParser(
        prog="cuda-software",
        description="Runs a program on the software device: a CUDA driver that runs PTX on the processor and checks every"
        " access to memory. It needs no GPU, and says which kernel, thread and line went wrong.",
        epilog="Ends with the program's own code, if it is not 0; else with 99 if a kernel went wrong or something was left"
        " behind; 125 if the program cannot be run so, 126 if it cannot be executed, 127 if it is not there; 128 + N if"
        " signal N ended it.",
        usage="cuda-software [options] -- program [arguments]",
        allow_abbrev=False,
    )
    for name, text in cuda_software.CHECKS.items():
        made.add_argument(f"--{name}", action="store_true", help=text)
    made.add_argument("--all-checks", action="store_true", help="all checks but --racecheck-atomic-reads and --nancheck")
    for name, text in cuda_software.VALUES.items():
        made.add_argument(f"--{name}", metavar="VALUE", help=text)
    made.add_argument("--library", metavar="PATH", help="another library of the software device")
    made.add_argument("--error-exitcode", metavar="N", type=int, default=FOUND, help="the code in place of 99")
    made.add_argument("--quiet", action="store_true", help="no summary")
    made.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return made


def options_of(given):
    """The settings on a command line, as pairs of names and values."""
    value = {name: getattr(given, name.replace("-", "_")) for name in [*cuda_software.CHECKS, *cuda_software.VALUES]}
    on = [name for name in cuda_software.CHECKS if value[name] or given.all_checks and name in cuda_software.ALL_CHECKS]
    settings = [(name, value[name]) for name in cuda_software.VALUES if value[name] is not None]
    return cuda_software.usual([(name, "1") for name in on] + settings)


def main(arguments=None):
    given = parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    program = given.program[1:] if given.program[:1] == ["--"] else given.program
    if not program:
        parser().error("no program stands behind `--`")
    if given.library:
        os.environ["CUPRUM_SOFTWARE_LIBRARY"] = given.library
    try:
        environment = os.environ | cuda_software.environment(options_of(given))
    except OSError as error:
        print(f"cuda-software: {error}", file=sys.stderr)
        return CANNOT
    start = time.monotonic()
    # One file for a whole tree of processes.
    with tempfile.TemporaryDirectory(prefix="cuda-software-") as folder:
        environment[cuda_software.REPORT_FILE] = os.path.join(folder, "reports")
        reports = Reports(environment[cuda_software.REPORT_FILE])
        code = started(program, environment)
        new = reports.new()
    if code in [NOT_FOUND, NOT_EXECUTABLE] and not reports.users:
        return code
    # A program that is right has nothing to be told of.
    if not given.quiet and (code or new or not reports.users):
        sum_up(program[0], code, time.monotonic() - start, reports, new)
    return given.error_exitcode if code == 0 and mistakes(new) else code


def sum_up(name, code, seconds, reports, new):
    ended = f"was ended by signal {code - 128}" if code > 128 else f"ended with {code}"
    said = counted([report.kind for report in new])
    print(f"cuda-software: `{name}` {ended} after {seconds:.1f} s; the software device reported {said}", file=sys.stderr)
    if not reports.users:
        print(
            "cuda-software: it did not call the driver: either it uses no CUDA, or it found another libcuda.so.1 by a path"
            " of its own",
            file=sys.stderr,
        )


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
