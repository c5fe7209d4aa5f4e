"""`pytest --cuda-software`: tests run on the software device; a fault fails the test in which it came.

The library has to be found before anything of CUDA's is loaded, so pytest starts itself anew with the loader's path set.
"""

import os
import sys
import tempfile

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

import cuda_software
from cuda_software.reports import Reports, counted, mistakes

#: The mark of a test that provokes faults.
MARKER = "cuda_software_expects_reports"
#: The reader of the file, in each process that runs tests.
READER = pytest.StashKey[Reports]()


def pytest_addoption(parser):
    group = parser.getgroup("cuda-software", "the software CUDA device")
    group.addoption("--cuda-software", action="store_true", help="run on a CUDA driver in software; needs no GPU")
    group.addoption(
        "--cuda-software-all-checks",
        action="store_true",
        help="with it: also uninitialized reads, races, wrong barriers, missing order, launches beyond their kernel's limits",
    )
    group.addoption(
        "--cuda-software-set",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="with it: an option of `cuda-software`, such as mode=deferred or racecheck=1",
    )


def options_of(given):
    checks = [name for name in cuda_software.ALL_CHECKS if name != "leakcheck"] if given.cuda_software_all_checks else []
    pairs = [(name, "1") for name in checks]
    for text in given.cuda_software_set:
        name, _, value = text.partition("=")
        if name not in cuda_software.CHECKS and name not in cuda_software.VALUES:
            raise pytest.UsageError(f"--cuda-software-set {text}: there is no option {name}")
        pairs.append((name, value))
    return cuda_software.usual(pairs)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config, parser, args):
    given = early_config.known_args_namespace
    if not given.cuda_software:
        return
    if cuda_software.is_in_force():
        # Nothing of CUDA's is loaded yet, which would read them.
        os.environ.update(cuda_software.variables(options_of(given)))
        return
    try:
        environment = os.environ | cuda_software.environment(options_of(given))
    except OSError as error:
        raise pytest.UsageError(f"--cuda-software: {error}") from None
    # What pytest has put in the place of the outputs goes with this process.
    capture = early_config.pluginmanager.getplugin("capturemanager")
    if capture:
        capture.stop_global_capturing()
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.addinivalue_line("markers", f"{MARKER}: what the software CUDA device reports in this test does not fail it")
    if config.option.cuda_software:
        # Of this process alone: workers of a parallel run have files of their own.
        descriptor, path = tempfile.mkstemp(prefix="cuda-software-", suffix=".reports")
        os.close(descriptor)
        os.environ[cuda_software.REPORT_FILE] = path
        config.stash[READER] = Reports(path)


def pytest_unconfigure(config):
    reader = config.stash.get(READER, None)
    if reader and os.path.exists(reader.path):
        os.remove(reader.path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    reader = item.config.stash.get(READER, None)
    new = reader.new() if reader else []
    wrong = mistakes(new) if item.get_closest_marker(MARKER) is None else []
    if wrong:
        blame(item, report, wrong)
    report.user_properties += [("cuda_software", one.kind) for one in new]
    return report


def blame(item, report, wrong):
    """Fails a test for reports. The first is what the last lines of the run say of the test, whatever it failed by itself."""
    text = "\n".join(one.text for one in wrong)
    crash = getattr(report.longrepr, "reprcrash", None)
    if report.outcome == "passed":
        path, line, _ = item.location
        crash = ReprFileLocation(path, (line or 0) + 1, "")
        entry = ReprEntryNative([f"the software CUDA device reported:\n{text}"])
        report.longrepr = ReprExceptionInfo(ReprTraceback([entry], None, "native"), crash)
        report.outcome = "failed"
    else:
        report.sections.append(("the software CUDA device reported", text))
    if crash is not None:
        own = f"; {crash.message}" if crash.message else ""
        crash.message = text.partition("\n")[0] + own


def pytest_report_header(config):
    if config.option.cuda_software:
        return f"software CUDA device: {cuda_software.library()}"


def pytest_terminal_summary(terminalreporter, config):
    if not config.option.cuda_software:
        return
    kinds = []
    for group in terminalreporter.stats.values():
        for report in group:
            kinds += [value for name, value in getattr(report, "user_properties", []) if name == "cuda_software"]
    if kinds:
        terminalreporter.write_line(f"software CUDA device: reported {counted(kinds)}")
