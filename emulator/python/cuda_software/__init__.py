"""A CUDA driver in software: programs run on it without a GPU, and it says what their kernels do wrong.

    cuda-software --racecheck -- python program.py
    pytest --cuda-software

A program that knows of it can also ask for it, before it loads anything of CUDA's:

    import cuda_software
    cuda_software.load()
"""

import ctypes
import hashlib
import os
import pathlib
import tempfile

#: Checks, each with what it finds, and whether findings end launches. Names of options are those of `cuprum run`.
CHECKS = {
    "initcheck": "reads of memory that nobody wrote",
    "racecheck": "accesses of threads that nothing puts in order",
    "racecheck-atomic-reads": "plain reads beside atomics too",
    "synccheck": "barriers that not all threads reach",
    "streamcheck": "operations of streams that touch the same bytes and that no event or wait orders",
    "leakcheck": "what was never freed",
    "apicheck": "launches that ask for more than their kernel allows, beside the misuse of the API that is always reported",
    "nancheck": "stores of NaNs that a kernel has made of numbers; programs may mean them",
    "fail-fast": "ends a launch and its context with the first finding; without it they go on",
}
#: Settings.
VALUES = {
    "mode": "when work runs: eager, async, deferred, shuffled or shuffled:SEED",
    "devices": "number of devices",
    "multiprocessors": "number of multiprocessors that a device reports",
    "memory": "bytes of memory of a device, such as 512M",
    "capability": "compute capability, such as 8.9",
    "driver-version": "version of CUDA that the driver is of, such as 12.4",
    "seed": "another order of blocks and warps",
    "budget": "most warp instructions of a launch",
    "time-limit": "most seconds of a launch (default: 300; `none` for no limit)",
    "workers": "threads that run blocks",
}
#: What `--all-checks` switches on.
ALL_CHECKS = ["initcheck", "racecheck", "synccheck", "streamcheck", "leakcheck", "apicheck"]

#: Options of runs whose reports are counted, unless they or the environment say otherwise.
USUAL = {"fail-fast": "0", "time-limit": "300"}

REPORT_FILE = "CUPRUM_REPORT_FILE"
_LIBRARY = "CUPRUM_SOFTWARE_LIBRARY"
_NAMES = ["libcuda.so.1", "libcuda.so"]
#: Our libraries of the CUDA runtime, beside the software device's. The newest is first: a program that asks for a function
#: without a version gets it from there.
_RUNTIMES = ["libcudart.so.13", "libcudart.so.12"]
#: PyTorch allocates each tensor by a call of its own: out-of-bounds accesses stay unseen in the segments that it shares out.
_TORCH_MEMORY = "PYTORCH_NO_CUDA_MEMORY_CACHING"
#: Where Triton finds its assembler, below compute capability 10.0 and from there on: one that hands PTX on as it is.
_ASSEMBLER = ["TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"]


def variable(option):
    """The environment variable of an option, such as `time-limit`."""
    name = "compute-capability" if option == "capability" else option
    return "CUPRUM_EMULATOR_" + name.replace("-", "_").upper()


def variables(options):
    """The variables that pairs of options and values set. Races are seen where one worker runs the blocks in order."""
    given = dict(options)
    if any(given.get(name) == "1" for name in ["racecheck", "racecheck-atomic-reads"]):
        given.setdefault("workers", "1")
    return {variable(name): str(value) for name, value in given.items()}


def usual(options):
    """Those options, with the usual ones of a run whose reports are counted."""
    given = {name: value for name, value in USUAL.items() if variable(name) not in os.environ} | dict(options)
    if given.get("time-limit") == "none":
        given["time-limit"] = ""
    return list(given.items())


def library():
    """The path of the library: that of CUPRUM_SOFTWARE_LIBRARY, or the one of this package."""
    given = os.environ.get(_LIBRARY)
    path = pathlib.Path(given) if given else pathlib.Path(__file__).parent / "lib" / "libcuda.so.1"
    if not path.is_file():
        raise FileNotFoundError(f"{path}, the software device's library, is not there")
    return path.resolve()


def runtimes():
    """The names of our libraries of the CUDA runtime that are there."""
    return [name for name in _RUNTIMES if library().with_name(name).is_file()]


def folder():
    """A folder in which the library has all names under which programs look for the driver, with `runtimes`.

    It lies in the package, or with the temporary files where that cannot be written, and is not removed: others may be
    using it.
    """
    target, package = library(), (pathlib.Path(__file__).parent / "lib").resolve()
    if target == package / _NAMES[0]:
        try:
            return _with_links(package, target)
        except OSError:
            pass
    digest = hashlib.sha256(str(target).encode()).hexdigest()[:16]
    ours = pathlib.Path(tempfile.gettempdir()) / f"cuda-software-{os.getuid()}-{digest}"
    ours.mkdir(mode=0o700, exist_ok=True)
    if ours.is_symlink() or ours.stat().st_uid != os.getuid():
        raise PermissionError(f"{ours} is somebody else's")
    return _with_links(ours, target)


def _with_links(where, target):
    links = {name: target for name in _NAMES} | {name: target.with_name(name) for name in runtimes()}
    for name, target in links.items():
        link = where / name
        if link == target or (link.exists() and link.samefile(target)):
            continue
        # Another process may be making the same; a rename replaces in one step.
        temporary = where / f"{name}.{os.getpid()}"
        temporary.symlink_to(target)
        temporary.replace(link)
    return where


def environment(options=()):
    """The variables that make a process use the software device, for `subprocess` and the like.

    `options` are pairs of an option's name and its value, such as `("racecheck", "1")`.
    """
    where = str(folder())
    before = [part for part in os.environ.get("LD_LIBRARY_PATH", "").split(":") if part and part != where]
    driver = str(folder() / "libcuda.so.1")
    # The loader's path serves all; Numba and cuprum have variables of their own, which count before it.
    result = {"LD_LIBRARY_PATH": ":".join([where, *before]), "NUMBA_CUDA_DRIVER": driver, "CUPRUM_DRIVER": driver}
    assembler = str(pathlib.Path(__file__).parent / "lib" / "ptxas")
    result |= {name: os.environ.get(name, assembler) for name in _ASSEMBLER}
    return result | _runtime_environment() | variables(options)


def _runtime_environment():
    """What makes programs load our libraries of the CUDA runtime, although they may have a path of their own to NVIDIA's."""
    if not runtimes():
        return {}
    before = [part for part in os.environ.get("LD_PRELOAD", "").replace(" ", ":").split(":") if part]
    # The variable cannot hold a blank; without their folder the libraries are looked for on the program's own path first.
    where = "" if " " in str(folder()) else f"{folder()}/"
    ours = [where + name for name in runtimes()]
    names = [*(name for name in before if name not in ours), *ours]
    return {"LD_PRELOAD": ":".join(names), _TORCH_MEMORY: os.environ.get(_TORCH_MEMORY, "1")}


def is_in_force():
    """True if this process was started with the loader's path set to the software device."""
    paths = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return any(os.path.exists(path) and os.path.samefile(path, folder()) for path in paths if path)


def load():
    """Loads the library into this process, under whose name later loads of `libcuda.so.1` find it.

    The same holds for our libraries of the CUDA runtime. For programs that look for `libcuda.so` without a version,
    `cuda-software` or `pytest --cuda-software` is needed.
    """
    os.environ.update(environment())
    loaded = ctypes.CDLL(str(library()), mode=ctypes.RTLD_GLOBAL)
    for name in runtimes():
        ctypes.CDLL(str(folder() / name), mode=ctypes.RTLD_GLOBAL)
    return loaded
