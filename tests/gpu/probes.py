"""Probes of a driver: each runs in a process of its own, because some of them crash or hang real drivers.

A script of probes registers them with `probe` and `family` and ends with `run(*sys.argv[1:])`. Then

    python3 SCRIPT OUTPUT.json             runs every probe, several at a time
    python3 SCRIPT OUTPUT.json PATTERN..   runs some, and puts their facts in place of those in OUTPUT.json
    python3 SCRIPT --probe NAME            runs one; prints a line of JSON as soon as it knows a fact

A fact is a label and an integer code, a value or a list. A probe that crashes or hangs keeps the facts it had
printed, and a fact "ended" says how it ended.
"""

import concurrent.futures
import fnmatch
import json
import pathlib
import subprocess
import sys

import driver
from driver import call

SECONDS_PER_PROBE = 40
WORKERS = 6
PROBES = {}


def probe(function):
    PROBES[function.__name__] = function
    return function


def family(names):
    """Registers a probe once for each name, which becomes its argument."""
    def register(function):
        for name in names:
            PROBES[f"{function.__name__}.{name}"] = lambda name=name: function(name)
        return function
    return register


def fact(label, content):
    print(json.dumps([label, content]), flush=True)


def attempt(label, *arguments):
    """Calls the function that the label starts with and notes its code."""
    code = call(label.split()[0], *arguments)
    fact(label, code)
    return code


def run_probe(name):
    """Runs one probe in a process of its own and gathers its facts."""
    command = [sys.executable, sys.argv[0], "--probe", name]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS_PER_PROBE, check=False)
        output, errors = done.stdout, done.stderr
        ending = None if done.returncode == 0 else f"exit status {done.returncode}"
    except subprocess.TimeoutExpired as expired:
        output, errors, ending = expired.stdout or b"", expired.stderr or b"", "timeout"
    facts = dict(json.loads(line) for line in output.decode(errors="replace").splitlines() if line.startswith("["))
    if ending:
        facts["ended"] = ending
    if errors:
        facts["standard error"] = errors.decode(errors="replace")[-600:]
    return name, facts


def run_all(path, patterns):
    """Runs all probes, or some; what was recorded later than the others says so itself."""
    chosen = [name for name in PROBES if not patterns or any(fnmatch.fnmatchcase(name, one) for one in patterns)]
    provenance = json.loads(subprocess.run(
        [sys.executable, sys.argv[0], "--describe"], capture_output=True, timeout=SECONDS_PER_PROBE, check=True).stdout)
    result = json.loads(path.read_text()) if patterns and path.exists() else {"provenance": provenance}
    if result["provenance"] != provenance:
        provenance["probes"] = patterns
        result.setdefault("provenance of later probes", []).append(provenance)
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for name, facts in pool.map(run_probe, chosen):
            result[name] = facts
            path.write_text(json.dumps(result, indent=1) + "\n")
            print(f"{name}: {len(facts)} facts{', ' + facts['ended'] if 'ended' in facts else ''}")


def run(option, *names):
    """The command line of a script of probes."""
    if option == "--probe":
        PROBES[names[0]]()
    elif option == "--describe":
        driver.start()
        print(json.dumps(driver.describe()))
    else:
        run_all(pathlib.Path(option), names)
