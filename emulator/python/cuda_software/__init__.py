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

#: Checks, each with what it finds. Names of options are those of `cuprum run`.
CHECKS = {
    "initcheck": "reads of memory that nobody wrote",
    "racecheck": "accesses of threads that nothing puts in order",
    "racecheck-atomic-reads": "plain reads beside atomics too",
    "synccheck": "barriers that not all threads reach",
    "leakcheck": "what was never freed",
    "nancheck": "stores of NaNs that a kernel has made of numbers; programs may mean them",
}
#: Settings.
VALUES = {
    "mode": "when work runs: eager, async, deferred, shuffled or shuffled:SEED",
    "devices": "number of devices",
    "memory": "bytes of memory of a device, such as 512M",
    "capability": "compute capability, such as 8.9",
    "driver-version": "version of CUDA that the driver is of, such as 12.4",
    "seed": "another order of blocks and warps",
    "budget": "most warp instructions of a launch",
    "time-limit": "most seconds of a launch",
    "workers": "threads that run blocks",
}
#: What `--all-checks` switches on.
ALL_CHECKS = ["initcheck", "racecheck", "synccheck", "leakcheck"]

REPORT_FILE = "CUPRUM_REPORT_FILE"
_LIBRARY = "CUPRUM_SOFTWARE_LIBRARY"
_NAMES = ["libcuda.so.1", "libcuda.so"]


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


def library():
    """The path of the library: that of CUPRUM_SOFTWARE_LIBRARY, or the one of this package."""
    given = os.environ.get(_LIBRARY)
    path = pathlib.Path(given) if given else pathlib.Path(__file__).parent / "lib" / "libcuda.so.1"
    if not path.is_file():
        raise FileNotFoundError(f"{path}, the software device's library, is not there")
    return path.resolve()


def folder():
    """A folder in which the library has all names under which programs look for the driver.

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
    for name in _NAMES:
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
    return result | variables(options)


def is_in_force():
    """True if this process was started with the loader's path set to the software device."""
    paths = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return any(os.path.exists(path) and os.path.samefile(path, folder()) for path in paths if path)


def load():
    """Loads the library into this process, under whose name later loads of `libcuda.so.1` find it.

    For programs that look for `libcuda.so` without a version, `cuda-software` or `pytest --cuda-software` is needed.
    """
    os.environ.update(environment())
    return ctypes.CDLL(str(library()), mode=ctypes.RTLD_GLOBAL)
