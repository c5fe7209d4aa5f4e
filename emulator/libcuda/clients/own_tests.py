"""Runs PyCUDA's own tests as shipped, and compares each outcome with the list in pycuda_tests.txt.

    pycuda_tests.py TEST_DRIVER_PY
"""

import pathlib
import sys

import pytest

LIST = pathlib.Path(__file__).with_suffix(".txt")


def listed():
    """Test -> (outcome, reason)."""
    lines = (line.partition("#")[0].split(None, 2) for line in LIST.read_text().splitlines())
    return {name: (outcome, reason.strip()) for name, outcome, reason in filter(None, lines)}


class Outcomes:
    """A plugin that keeps what became of each test: name -> (outcome, what it said)."""

    def __init__(self):
        self.seen = {}

    def pytest_runtest_logreport(self, report):
        decisive = report.when == "call" or not report.passed
        if decisive:
            outcome = report.outcome
            if hasattr(report, "wasxfail"):
                outcome = {"skipped": "xfailed", "passed": "xpassed"}[outcome]
            said = getattr(report, "wasxfail", "") + report.longreprtext
            self.seen[report.nodeid.rpartition("::")[2]] = (outcome, said)


def main():
    outcomes, expected = Outcomes(), listed()
    # Listed failures are no news, and the others are printed below.
    pytest.main(["--quiet", "--tb=no", "--no-header", "-p", "no:cacheprovider", "-rN",
                 sys.argv[1]], plugins=[outcomes])
    wrong = [f"{name}: in the list, but there is no such test" for name in expected.keys() - outcomes.seen.keys()]
    for name, (outcome, said) in outcomes.seen.items():
        wanted, reason = expected.get(name, ("passed", ""))
        if outcome != wanted or reason not in said:
            wrong.append(f"{name}: {outcome}, expected {wanted} {reason}\n{said}")
    passed = sum(outcome == "passed" for outcome, _ in outcomes.seen.values())
    print(f"PyCUDA's test_driver.py: {passed} tests passed, {len(expected)} listed with a reason, {len(wrong)} wrong")
    if wrong or not passed:
        sys.exit("\n".join(["not as in pycuda_tests.txt:", *wrong]))


if __name__ == "__main__":
    main()
