#!/usr/bin/env bash
# Runs what is for Python on the software device: memory exchanged with NumPy, the C library of examples/arrays, the failing
# programs of examples/troubles, and the package of emulator/python in a fresh environment. PYTHON has NumPy, pytest and
# Numba-CUDA; by default it is that of the clients of the software libcuda.so.1, which emulator/libcuda/clients/run.sh makes.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-.cache/clients/venv/bin/python}
step() { printf -- '-- %s (after %s s)\n' "$1" "$SECONDS"; }
emulator/libcuda/build.sh >/dev/null
cargo build --quiet --package cuprum-test-interop --package cuprum-arrays --package cuprum-sys --features cuprum-sys/hook
cargo build --quiet --package cuprum --example 16_without_a_driver
target=$(readlink -f "${CARGO_TARGET_DIR:-target}")/debug
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/libcuda"
ln -s "$target/libcuprum_libcuda.so" "$folder/libcuda/libcuda.so.1"
export PYTHONDONTWRITEBYTECODE=1

step "memory exchanged with NumPy"
for mode in eager async; do
    # What Python ignores in a destructor it tells on standard error.
    said=$(CUPRUM_DEVICE=${CUPRUM_DEVICE-emulator} CUPRUM_EMULATOR_MODE=$mode "$python" examples/python/dlpack.py "$target/libcuprum_test_interop.so" 2>&1)
    echo "$said"
    grep -q "^NumPy: both ways, without a copy$" <<<"$said"
    if grep -q Traceback <<<"$said"; then exit 1; fi
done

step "a C library that the interpreter cannot be crashed with"
for mode in eager async; do
    ARRAYS_LIBRARY=$target/libarrays.so CUPRUM_DEVICE=emulator CUPRUM_EMULATOR_MODE=$mode \
        "$python" -m pytest --quiet -p no:cacheprovider examples/arrays/python
done

step "failing programs and their cures, with the reports"
"$python" examples/troubles/run.py "$folder/libcuda"

step "an application without a driver, with one"
CUPRUM_DRIVER=$folder/libcuda/libcuda.so.1 "$target/examples/16_without_a_driver" | diff - <(printf 'with a GPU\n5\n')

step "the package, in a fresh environment"
"$python" -m venv "$folder/venv"
fresh=$folder/venv/bin/python
"$fresh" -m pip install --quiet --disable-pip-version-check --no-index --no-deps -C profile=dev ./emulator/python
packages() { "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
# pytest is there already, and nothing of it is the package's.
echo "import site; site.addsitedir('$(packages "$python")')" >"$(packages "$fresh")/others.pth"
"$fresh" -m pytest --quiet -p no:cacheprovider emulator/python/tests/test_package.py \
    emulator/python/tests/test_recipes.py
# Numba looks for its libraries in its own environment.
PYTHONPATH=$(packages "$fresh") "$python" -m pytest --quiet -p no:cacheprovider emulator/python/tests/test_numba.py
step "done"
