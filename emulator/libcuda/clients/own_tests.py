"""Runs a client's own tests as shipped, and compares each outcome with a list.

    own_tests.py LIST ARGUMENT...

The arguments go to pytest. A line of the list is `TEST OUTCOME REASON`: a test's name below its folder, in which `*`
stands for anything, what becomes of it on the software device (failed, skipped, xfailed), and a part of what it says
then. What ends the context for all tests after it is not run at all: its outcome is `left-out`. A failure that is not listed, one for another reason, a test that passes although it is listed, and a line of
these files that no test matches end the run with an error. A test that takes longer than the limit ends it too, with its stack.
"""

import fnmatch
import pathlib
import sys

import pytest

SECONDS = 300


def listed(path):
    """Lines of the list: pattern, outcome, reason."""
    lines = (line.partition("#")[0].split(None, 2) for line in path.read_text().splitlines())
    return [(pattern, outcome, reason.strip()) for pattern, outcome, reason in filter(None, lines)]


class Outcomes:
    """A plugin that keeps what became of each test: name -> (outcome, what it said)."""

    def __init__(self, expected):
        self.seen = {}
        self.left_out = [(pattern, reason) for pattern, outcome, reason in expected if outcome == "left-out"]

    def pytest_collection_modifyitems(self, items):
        for item in list(items):
            for pattern, reason in self.left_out:
                if fnmatch.fnmatchcase(item.nodeid, pattern):
                    items.remove(item)
                    self.seen[item.nodeid] = ("left-out", reason)

    def pytest_runtest_logreport(self, report):
        decisive = report.when == "call" or not report.passed
        if decisive:
            outcome = report.outcome
            if hasattr(report, "wasxfail"):
                outcome = {"skipped": "xfailed", "passed": "xpassed"}[outcome]
            said = getattr(report, "wasxfail", "") + "".join([report.longreprtext, *(text for _, text in report.sections)])
            # A part of a test that failed is told before the test, which may pass by itself.
            if self.seen.get(report.nodeid, ("",))[0] != "failed":
                self.seen[report.nodeid] = (outcome, said)

    def pytest_collectreport(self, report):
        if not report.passed:
            self.seen[report.nodeid] = (report.outcome, str(report.longrepr))


def compare(seen, expected):
    """What is not as listed, and how many tests are listed."""
    wrong, used, count = [], set(), 0
    for name, (outcome, said) in seen.items():
        fitting = [line for line in expected if fnmatch.fnmatchcase(name, line[0])]
        used.update(fitting)
        count += bool(fitting)
        wanted = fitting or [(name, "passed", "")]
        if not any(outcome == as_listed and reason in said for _, as_listed, reason in wanted):
            expectation = " or ".join(f"{as_listed} {reason}".strip() for _, as_listed, reason in wanted)
            wrong.append(f"{name}: {outcome}, expected {expectation}\n{said}")
    files = {name.partition("::")[0] for name in seen}
    for line in expected:
        # The list is of all files, of which only some may be run.
        if line not in used and fnmatch.filter(files, line[0].partition("::")[0]):
            wrong.append(f"{line[0]}: in the list, but there is no such test")
    return wrong, count


def main():
    path = pathlib.Path(sys.argv[1])
    expected = listed(path)
    outcomes = Outcomes(expected)
    # Listed failures are no news, and the others are printed below.
    code = pytest.main(["--quiet", "--tb=short", "--no-header", "--no-summary", "-p", "no:cacheprovider",
                        "-o", f"faulthandler_timeout={SECONDS}", "-o", "faulthandler_exit_on_timeout=true",
                        *sys.argv[2:]], plugins=[outcomes])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        sys.exit(f"{path.stem}: pytest did not run: {code!r}")
    wrong, count = compare(outcomes.seen, expected)
    passed = sum(outcome == "passed" for outcome, _ in outcomes.seen.values())
    print(f"{path.stem}: {passed} tests passed, {count} listed with a reason, {len(wrong)} wrong")
    if wrong or not passed:
        sys.exit("\n".join([f"not as in {path.name}:", *wrong]))


if __name__ == "__main__":
    main()
