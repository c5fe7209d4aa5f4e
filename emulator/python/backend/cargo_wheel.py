"""Builds the wheel: cargo makes the library, and the rest are the files of this folder.

A backend of our own (PEP 517, PEP 660), as it is shorter than the settings of another one, and an installation then takes
nothing from an index. The profile is `release`; `pip install -C profile=dev` or CUDA_SOFTWARE_PROFILE=dev takes another,
and CUDA_SOFTWARE_LIBRARY a library that is built already.
"""

import base64
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent
NAME = "cuda_software"
METADATA = """\
Metadata-Version: 2.1
Name: cuda-software
Version: {version}
Summary: A CUDA driver in software for Python programs: runs them without a GPU, and checks what kernels do
License: MIT OR Apache-2.0
Requires-Python: >=3.10
"""
ENTRY_POINTS = """\
[console_scripts]
cuda-software = cuda_software.run:main

[pytest11]
cuda_software = cuda_software.pytest_plugin
"""


def version():
    return re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]


def tag():
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def library(settings):
    """The library's file, built now unless it is given."""
    given = os.environ.get("CUDA_SOFTWARE_LIBRARY")
    if given:
        return pathlib.Path(given)
    if sys.platform != "linux":
        raise SystemExit("cuda-software: the library takes the place of libcuda.so.1, which is Linux's")
    profile = (settings or {}).get("profile") or os.environ.get("CUDA_SOFTWARE_PROFILE") or "release"
    command = ["cargo", "build", "--package", "cuprum-libcuda", "--profile", profile, "--message-format", "json-render-diagnostics"]
    try:
        built = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    except FileNotFoundError:
        raise SystemExit("cuda-software: building it needs Rust's `cargo`, which is not on the PATH") from None
    messages = map(json.loads, built.splitlines())
    libraries = [m["filenames"][0] for m in messages if m.get("target", {}).get("name") == "cuprum_libcuda"]
    return pathlib.Path(libraries[-1])


def write_wheel(folder, files):
    """A wheel of files, by their names in it; their hashes go into the last one."""
    info, records = f"{NAME}-{version()}.dist-info", []
    files[f"{info}/METADATA"] = METADATA.format(version=version()).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: cargo_wheel\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    file = f"{NAME}-{version()}-{tag()}.whl"
    with zipfile.ZipFile(pathlib.Path(folder, file), "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        for name, content in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            records.append(f"{name},sha256={digest},{len(content)}")
            wheel.writestr(name, content)
        wheel.writestr(f"{info}/RECORD", "\n".join([*records, f"{info}/RECORD,,", ""]))
    return file


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {f"{NAME}/{path.name}": path.read_bytes() for path in sorted((HERE / NAME).glob("*.py"))}
    files[f"{NAME}/lib/libcuda.so.1"] = library(config_settings).read_bytes()
    return write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """`pip install -e`: the modules stay in this folder, with a link to the library."""
    lib = HERE / NAME / "lib"
    lib.mkdir(exist_ok=True)
    link = lib / "libcuda.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to(library(config_settings).resolve())
    return write_wheel(wheel_directory, {f"_{NAME}.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("cuda-software: it is built in a checkout of the repository, which has what cargo needs")
