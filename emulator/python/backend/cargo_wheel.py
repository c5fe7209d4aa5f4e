"""Builds the wheel: cargo makes the library and the programs, and the rest are the files of this folder.

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


def libraries(settings):
    """The files of the wheel's folder `lib`, by their names in it: built now, unless the software device's library is given;
    then libraries of the CUDA runtime are those beside it."""
    given = os.environ.get("CUDA_SOFTWARE_LIBRARY")
    if given:
        device = pathlib.Path(given)
    else:
        device = built(settings)
        profile = device.parent.name
        subprocess.run([ROOT / "emulator/cudart/link.sh", device.parent, profile], check=True)
    runtimes = [device.with_name(f"libcudart.so.{major}") for major in (12, 13)]
    assembler = ROOT / "cli/src/run/ptxas"
    return {"libcuda.so.1": device, "ptxas": assembler} | {file.name: file for file in runtimes if file.is_file()}


def built(settings):
    """The software device's library, built now, with the programs beside it."""
    if sys.platform != "linux":
        raise SystemExit("cuda-software: the library takes the place of libcuda.so.1, which is Linux's")
    profile = (settings or {}).get("profile") or os.environ.get("CUDA_SOFTWARE_PROFILE") or "release"
    cargo = ["cargo", "build", "--profile", profile, "--message-format", "json-render-diagnostics"]
    programs = ["--package", "cuprum-cli", "--package", "cuprum-tracer", "--bins"]
    try:
        subprocess.run([*cargo, *programs], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        # Unoptimized, it is of the tests, and has their features, as in libcuda/build.sh.
        features = ["--package", "cuprum-sys", "--features", "cuprum-sys/hook"] if profile == "dev" else []
        library = [*cargo, "--package", "cuprum-libcuda", *features]
        said = subprocess.run(library, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    except FileNotFoundError:
        raise SystemExit("cuda-software: building it needs Rust's `cargo`, which is not on the PATH") from None
    messages = map(json.loads, said.splitlines())
    files = [m["filenames"][0] for m in messages if m.get("target", {}).get("name") == "cuprum_libcuda"]
    return pathlib.Path(files[-1])


def programs(device):
    """`cuprum` (`doctor`, `run`, `trace`) and the library of `cuprum trace`, beside the software device's library, by their
    names in the wheel's folder of scripts."""
    files = [device.with_name(name) for name in ("cuprum", "cuprum-trace-library")]
    return {file.name: file for file in files if file.is_file()}


def write_wheel(folder, files):
    """A wheel of files, by their names in it; their hashes go into the last one."""
    info, records = f"{NAME}-{version()}.dist-info", []
    files[f"{info}/METADATA"] = METADATA.format(version=version()).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: cargo_wheel\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    file = f"{NAME}-{version()}-{tag()}.whl"
    with zipfile.ZipFile(pathlib.Path(folder, file), "w") as wheel:
        for name, content in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            records.append(f"{name},sha256={digest},{len(content)}")
            entry = zipfile.ZipInfo(name)
            # Programs start it.
            is_program = name.endswith("/ptxas") or "/scripts/" in name
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            wheel.writestr(entry, content, zipfile.ZIP_DEFLATED, 1)
        wheel.writestr(f"{info}/RECORD", "\n".join([*records, f"{info}/RECORD,,", ""]))
    return file


def scripts(ours):
    """The programs, under the names by which an installation puts them beside Python."""
    found = programs(ours["libcuda.so.1"])
    return {f"{NAME}-{version()}.data/scripts/{name}": file.read_bytes() for name, file in found.items()}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {f"{NAME}/{path.name}": path.read_bytes() for path in sorted((HERE / NAME).glob("*.py"))}
    ours = libraries(config_settings)
    files |= {f"{NAME}/lib/{name}": file.read_bytes() for name, file in ours.items()}
    return write_wheel(wheel_directory, files | scripts(ours))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """`pip install -e`: the modules stay in this folder, with links to the libraries."""
    lib = HERE / NAME / "lib"
    lib.mkdir(exist_ok=True)
    ours = libraries(config_settings)
    for name, file in ours.items():
        link = lib / name
        link.unlink(missing_ok=True)
        link.symlink_to(file.resolve())
    return write_wheel(wheel_directory, {f"_{NAME}.pth": f"{HERE}\n".encode()} | scripts(ours))


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("cuda-software: it is built in a checkout of the repository, which has what cargo needs")
