"""The installed package: its script, its plugin for pytest, and what it does to a process. Run by examples/python/run.sh
in a fresh environment, with ctypes as the client."""

import os
import pathlib
import re
import subprocess
import sys

import cuda_software

HERE = pathlib.Path(__file__).resolve().parent
TROUBLES = HERE.parents[2] / "examples" / "troubles"
PROGRAM = """
import ctypes
cuda = ctypes.CDLL({name!r})
assert cuda.cuInit(0) == 0
name = ctypes.create_string_buffer(100)
assert cuda.cuDeviceGetName(name, 100, 0) == 0
print(name.value.decode())
"""
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("CUPRUM_") and name != "LD_LIBRARY_PATH"}


def run(*command, **more):
    environment = CLEAN | {"PYTHONPATH": str(TROUBLES)} | more
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, timeout=300)


def script(*arguments, **more):
    return run(pathlib.Path(sys.executable).parent / "cuda-software", *arguments, **more)


def python(*arguments):
    return [sys.executable, *arguments]


def test_a_program_finds_it_under_both_names():
    for name in ["libcuda.so.1", "libcuda.so"]:
        done = script("--", *python("-c", PROGRAM.format(name=name)))
        assert (done.returncode, done.stdout) == (0, "Software CUDA device\n"), done
        assert done.stderr == "", done


def test_the_program_keeps_its_words_and_its_end():
    done = script("--", *python("-c", "import sys; print(sys.argv[1:]); sys.exit(7)", "--all-checks", "--", "x y"))
    assert (done.returncode, done.stdout) == (7, "['--all-checks', '--', 'x y']\n"), done
    assert script("--", *python("-c", "import os; os.kill(os.getpid(), 9)")).returncode == 128 + 9
    assert script("--", "/not/there").returncode == 127
    assert script("--", "/etc/hostname").returncode == 126
    assert script().returncode == 2 and script("--no-such", "--", "true").returncode == 2
    assert script("--library", "/not/there", "--", "true").returncode == 125


def test_options_are_settings():
    shown = "import os; print({name: os.environ[name] for name in sorted(os.environ) if name.startswith('CUPRUM_EM')})"
    done = script("--mode", "deferred", "--devices=2", "--racecheck", "--", *python("-c", shown))
    usual = {"FAIL_FAST": "0", "TIME_LIMIT": "300"}
    expected = {"DEVICES": "2", "MODE": "deferred", "RACECHECK": "1", "WORKERS": "1"} | usual
    said = {name.removeprefix("CUPRUM_EMULATOR_"): value for name, value in eval(done.stdout).items()}
    assert said == expected and "it did not call the driver" in done.stderr, done
    quiet = script("--quiet", "--all-checks", "--capability", "8.9", "--", *python("-c", shown))
    names = ["APICHECK", "COMPUTE_CAPABILITY", "FAIL_FAST", "INITCHECK", "LEAKCHECK", "RACECHECK", "STREAMCHECK", "SYNCCHECK"]
    names += ["TIME_LIMIT", "WORKERS"]
    assert [name.removeprefix("CUPRUM_EMULATOR_") for name in eval(quiet.stdout)] == names and not quiet.stderr, quiet
    own = script("--fail-fast", "--time-limit", "none", "--", *python("-c", shown))
    said = {name.removeprefix("CUPRUM_EMULATOR_"): value for name, value in eval(own.stdout).items()}
    assert said == {"FAIL_FAST": "1", "TIME_LIMIT": ""}, own
    kept = script("--", *python("-c", shown), CUPRUM_EMULATOR_TIME_LIMIT="7", CUPRUM_EMULATOR_FAIL_FAST="1")
    assert eval(kept.stdout) == {"CUPRUM_EMULATOR_TIME_LIMIT": "7", "CUPRUM_EMULATOR_FAIL_FAST": "1"}, kept
    done = script("--devices", "many", "--", *python("-c", PROGRAM.format(name="libcuda.so.1")))
    assert done.returncode == 1 and "CUPRUM_EMULATOR_DEVICES=many" in done.stderr, done


def test_options_are_those_of_cuprum_run():
    source = (HERE.parents[2] / "cli/src/run/settings.rs").read_text()
    theirs = dict(re.findall(r'\("--([a-z-]+)", "(CUPRUM_EMULATOR_[A-Z_]+)"\)', source))
    ours = {name: cuda_software.variable(name) for name in [*cuda_software.CHECKS, *cuda_software.VALUES]}
    assert theirs == ours


def test_mistakes_are_summed_up_and_end_with_a_code():
    fault = script("--", *python(TROUBLES / "innocent_call" / "fails.py"))
    assert fault.returncode == 99 and "out-of-bounds access" in fault.stderr, fault
    assert fault.stderr.endswith("the software device reported 1 fault of a kernel\n"), fault
    leak = script("--leakcheck", "--", *python(TROUBLES / "at_exit" / "fails.py"))
    assert leak.returncode == 99 and leak.stderr.endswith("reported 1 context with leaks\n"), leak
    race = TROUBLES / "race" / "fails.py"
    assert script("--", *python(race)).returncode == 0
    assert script("--error-exitcode", "3", "--", *python(TROUBLES / "innocent_call" / "fails.py")).returncode == 3
    # The launch goes on, and the program ends as it does without the check.
    caught = script("--racecheck", "--", *python(race))
    assert caught.returncode == 99 and "data race" in caught.stderr, caught
    ended = script("--racecheck", "--fail-fast", "--", *python(race))
    assert ended.returncode == 1 and "data race" in ended.stderr, ended
    died = script("--", *python(TROUBLES / "device_memory" / "fails.py"))
    assert died.returncode == 128 + 11 and "an address of the device" in died.stderr, died


def test_the_message_of_a_host_access_comes_beside_python_s_own():
    before = script("--", *python("-X", "faulthandler", TROUBLES / "device_memory" / "fails.py"))
    later = "import runpy, driver, faulthandler; driver.make_context(); faulthandler.enable(); runpy.run_path({!r})"
    after = script("--", *python("-c", later.format(str(TROUBLES / "device_memory" / "fails.py"))))
    for done in [before, after]:
        assert done.returncode == 128 + 11, done
        assert "Fatal Python error: Segmentation fault" in done.stderr, done
        assert "the host read 0x" in done.stderr and "16 bytes into allocation #1" in done.stderr, done


def test_children_of_a_program_report_too():
    tree = "import subprocess, sys; subprocess.run([sys.executable, sys.argv[1]], check=True)"
    done = script("--", *python("-c", tree, TROUBLES / "innocent_call" / "fails.py"))
    assert done.returncode == 99 and "1 fault of a kernel" in done.stderr, done


def test_a_program_may_load_it_itself():
    done = run(*python("-c", "import cuda_software; cuda_software.load()\n" + PROGRAM.format(name="libcuda.so.1")))
    assert (done.returncode, done.stdout) == (0, "Software CUDA device\n"), done
    shown = "import cuda_software; print(cuda_software.is_in_force())"
    assert run(*python("-c", shown)).stdout == "False\n"
    assert script("--", *python("-c", shown)).stdout == "True\n"


RUNTIME = """
import ctypes, os
runtime = ctypes.CDLL({name!r})
count = ctypes.c_int()
assert runtime.cudaGetDeviceCount(ctypes.byref(count)) == 0
print(count.value, os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"])
"""


def test_a_program_of_the_runtime_gets_ours():
    for name in ["libcudart.so.12", "libcudart.so.13"]:
        done = script("--devices", "2", "--", *python("-c", RUNTIME.format(name=name)))
        assert (done.returncode, done.stdout) == (0, "2 1\n"), done
    # A library of that name on the program's own path comes after it, and what was preloaded before stays.
    loaded = "import os; print(os.environ['LD_PRELOAD'], 'libcudart.so.13' in open('/proc/self/maps').read())"
    done = script("--", *python("-c", loaded), LD_PRELOAD="libm.so.6", PYTORCH_NO_CUDA_MEMORY_CACHING="0")
    first, *ours = done.stdout.split()[0].split(":")
    assert first == "libm.so.6" and [pathlib.Path(path).name for path in ours] == ["libcudart.so.13", "libcudart.so.12"], done
    assert done.stdout.endswith(" True\n"), done
    inside = run(*python("-c", "import cuda_software; cuda_software.load()\n" + RUNTIME.format(name="libcudart.so.13")))
    assert (inside.returncode, inside.stdout) == (0, "1 1\n"), inside


def test_triton_s_assembler_is_there():
    done = script("--", "sh", "-c", "$TRITON_PTXAS_PATH --version && $TRITON_PTXAS_BLACKWELL_PATH --version")
    assert done.returncode == 0 and done.stdout.count("software CUDA device") == 2, done


MISUSE = """
import ctypes
import driver

def free(address):
    driver.libcuda.cuMemFree_v2(ctypes.c_uint64(address))

driver.make_context()
address = driver.alloc(64)
for _ in range(3):
    free(address)
driver.libcuda.cuMemcpyHtoD_v2(driver.alloc(64) & 0xffffffff, b"1234", 4)
"""


def test_misuse_names_the_line_of_python(tmp_path):
    program = tmp_path / "misuse.py"
    program.write_text(MISUSE)
    done = script("--", *python(program))
    assert done.returncode == 99, done
    where = f"already freed)\n  at {program}:6 in free\n  at {program}:11 in <module>\n"
    assert done.stderr.count("misuse of cuMemFree") == 1 and where in done.stderr, done
    assert f"cut to 32 bits" in done.stderr and f"  at {program}:12 in <module>\n" in done.stderr, done
    assert done.stderr.endswith("the software device reported 2 misuses of the API\n"), done
    assert script("--", *python(program), CUPRUM_EMULATOR_APICHECK="0").returncode == 0
    leak = script("--leakcheck", "--", *python(TROUBLES / "at_exit" / "fails.py"))
    assert f"never freed\n    at {TROUBLES / 'driver.py'}:" in leak.stderr and "fails.py:" in leak.stderr, leak


def test_one_installation_brings_the_programs():
    cuprum = pathlib.Path(sys.executable).parent / "cuprum"
    fault = run(cuprum, "run", "--", *python(TROUBLES / "innocent_call" / "fails.py"))
    assert fault.returncode == 99 and "out-of-bounds access" in fault.stderr, fault
    doctor = run(cuprum, "doctor", "--json")
    assert doctor.stdout.startswith("{"), doctor
    trace = run(cuprum, "trace", "--software", "-o", "/dev/null", "--", "true")
    assert "cuprum-trace-library is not there" not in trace.stderr, trace


# --- pytest ---------------------------------------------------------------------------------------------------

TESTS = """
import ctypes, os, pytest
import driver

@pytest.fixture(scope="module", autouse=True)
def context():
    yield driver.make_context()

def wrong():
    out = driver.alloc(4000)
    driver.launch(driver.kernel("bugs.ptx", "off_by_one"), 4, 256, ctypes.c_uint64(out), ctypes.c_uint32(1000))

def race():
    numbers = driver.alloc(256)
    driver.to_device(numbers, (ctypes.c_uint32 * 64)())
    driver.launch(driver.kernel("bugs.ptx", "race_shared"), 1, 64, ctypes.c_uint64(numbers), ctypes.c_uint64(driver.alloc(256)))

def test_that_is_right():
    address = driver.alloc(16)
    driver.to_device(address, (ctypes.c_float * 4)(1, 2, 3, 4))

def test_race():
    race()

def test_that_looks_at_no_answer():
    driver.make_context()
    wrong()

@pytest.mark.cuda_software_expects_reports
def test_that_provokes_it():
    driver.make_context()
    wrong()
    with pytest.raises(driver.CudaError, match="ILLEGAL_ADDRESS"):
        driver.call("cuCtxSynchronize")

def test_after_it():
    driver.make_context()
    print("this test's own words")
    assert os.environ.get("CUPRUM_EMULATOR_DEVICES", "1") == str(count())

def count():
    number = ctypes.c_int()
    driver.call("cuDeviceGetCount", ctypes.byref(number))
    return number.value
"""


def pytest_in(folder, *options, **more):
    (folder / "test_kernels.py").write_text(TESTS)
    return run(*python("-m", "pytest", "-p", "no:cacheprovider", "-rA", *options, folder), **more)


def test_pytest_fails_the_test_in_which_a_fault_came(tmp_path):
    # The last lines are cut at the width of the terminal.
    done = pytest_in(tmp_path, "--cuda-software", COLUMNS="400")
    assert done.returncode == 1, done
    assert "1 failed, 4 passed" in done.stdout, done.stdout
    assert "FAILED" in done.stdout and "test_that_looks_at_no_answer" in done.stdout
    summary = "test_kernels.py::test_that_looks_at_no_answer - out-of-bounds access in kernel `off_by_one`\n"
    assert summary in done.stdout, done.stdout
    assert "the software CUDA device reported:" in done.stdout and "thread (232,0,0)" in done.stdout
    assert "software CUDA device: reported 2 faults of kernels" in done.stdout, done.stdout
    # What tests print is captured as ever, and comes once.
    assert done.stdout.count("this test's own words") == 1 and done.stdout.count("test session starts") == 1


def test_pytest_names_the_fault_before_the_test_s_own_error(tmp_path):
    (tmp_path / "test_it.py").write_text(
        TESTS.partition("def race")[0] + "def test_it():\n    wrong()\n    driver.call('cuCtxSynchronize')\n"
    )
    done = run(*python("-m", "pytest", "-q", "-p", "no:cacheprovider", "--cuda-software", tmp_path), COLUMNS="400")
    assert "test_it.py::test_it - out-of-bounds access in kernel `off_by_one`; driver.CudaError: " in done.stdout, done.stdout


def test_pytest_takes_options_and_the_short_command(tmp_path):
    (tmp_path / "test_kernels.py").write_text(TESTS)
    # As an installation of pytest has it.
    short = tmp_path / "pytest"
    short.write_text(f"#!{sys.executable}\nimport sys, pytest\nsys.exit(pytest.console_main())\n")
    short.chmod(0o755)
    command = [short, "-q", "-p", "no:cacheprovider", "--cuda-software"]
    done = run(*command, "--cuda-software-all-checks", "--cuda-software-set", "devices=3", tmp_path)
    assert "2 failed, 3 passed" in done.stdout and "read of uninitialized memory" in done.stdout, done.stdout
    wrong = run(*command, "--cuda-software-set", "speed=3", tmp_path)
    assert wrong.returncode == 4 and "there is no option speed" in wrong.stderr, wrong
    # Already on it.
    inside = script("--", *command, "--cuda-software-set", "devices=2", tmp_path)
    assert "1 failed, 4 passed" in inside.stdout, inside


def test_without_the_option_the_plugin_does_nothing(tmp_path):
    (tmp_path / "test_it.py").write_text("import os\ndef test(): assert 'CUPRUM_REPORT_FILE' not in os.environ")
    done = run(*python("-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path))
    assert done.returncode == 0 and "software" not in done.stdout, done


def test_the_package_is_what_pip_says():
    assert cuda_software.library().name == "libcuda.so.1"
    listed = run(*python("-m", "pip", "show", "-f", "cuda-software")).stdout
    assert "cuda_software/lib/libcuda.so.1" in listed and "License: MIT OR Apache-2.0" in listed, listed
