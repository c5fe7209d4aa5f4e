#!/usr/bin/env bash
# Takes the tests, examples and benchmarks to a machine that has an NVIDIA GPU and no Rust.
#
#     tests/gpu.sh pack           here: builds the programs that use a device into .gpu/, which git ignores
#     tests/gpu.sh run [FOLDER]   there, in a copy of the repository with .gpu/: runs every one of them and
#                                 writes FOLDER/results.md and FOLDER/log.txt (default: .gpu/results)
#     tests/gpu.sh sanitize [FOLDER]
#                                 there: runs the tests under compute-sanitizer, and writes FOLDER/sanitized.md
#                                 and FOLDER/sanitized.txt
#
# `run` fails if one program fails, is missing, hangs, or ran no test. It insists on a GPU; with
# CUPRUM_DEVICE=emulator it runs anywhere, to try this script itself (what opens the system's driver all the
# same then fails).
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/gpu/carry.sh
. tests/gpu/carry.sh

packed=.gpu
manifest=$packed/manifest.tsv
unfinished=$packed/manifest.unfinished
archive=$packed/programs.tar.xz
# The most that a checkout travels with, its own files among it.
size_limit_mib=64
seconds_a_program=180
seconds_under_a_sanitizer=600
bench_arguments=(--bench --warm-up-time 0.2 --measurement-time 0.5)

# --- pack ---------------------------------------------------------------------------------------------------

# Whether a test or a benchmark uses the device that CUPRUM_DEVICE names, itself or by one of its modules.
takes_device() { # SOURCE
    local here file files=("$1")
    here=$(dirname "$1")
    [ "$(basename "$1")" != main.rs ] || mapfile -t files < <(find "$here" -name '*.rs')
    for file in $(sed -nE 's/^ *#\[path = "(.*)"\]$/\1/p; s/^mod ([a-z_]+);$/\1\/mod.rs/p' "$1"); do
        files+=("$here/$file")
    done
    grep -qsE 'CUPRUM_DEVICE"|open_driver_or_emulator|cuprum_testing::(common|\{.*\bcommon\b)' "${files[@]}"
}

# Notes programs to be packed. The manifest has a line for each.
note_programs() { # KIND PACKAGE FOLDER NAME...
    local kind=$1 package=$2 folder=$3 name
    shift 3
    for name in "$@"; do
        printf '%s\t%s\t%s\t%s\n' "$kind" "$package" "$name" "$folder" >>"$unfinished"
    done
}

# The programs of a folder, as names and sources: each file, and each folder with a main.rs.
programs_in() { # FOLDER
    local source
    for source in "$1"/*.rs "$1"/*/main.rs; do
        case $source in
        *'*'*) ;;
        */main.rs) printf '%s\t%s\n' "$(basename "$(dirname "$source")")" "$source" ;;
        *) printf '%s\t%s\n' "$(basename "$source" .rs)" "$source" ;;
        esac
    done
}

# Notes the programs of a folder that take a device, and says which do not.
note_those_with_device() { # KIND PACKAGE FOLDER SOURCES
    local kind=$1 package=$2 folder=$3 name source taken=()
    while IFS=$'\t' read -r name source; do
        if takes_device "$source"; then
            taken+=("$name")
        else
            echo "left out, as it takes no device: $package, $kind $name"
        fi
    done < <(programs_in "$folder/$4")
    note_programs "$kind" "$package" "$folder" "${taken[@]}"
}

# Builds the noted programs of some kinds with one cargo command, so that no crate is compiled twice with other features,
# and copies them. What cargo did not build is an error, and so is a program that knows the path of this checkout.
build() { # KINDS CARGO-ARGUMENT...
    local kinds=$1 kind package name folder arguments=() packages=() built=$packed/built executable to
    shift
    while IFS=$'\t' read -r kind package name folder; do
        [[ " $kinds " == *" $kind "* ]] || continue
        arguments+=("--$kind" "$name")
        packages+=(-p "$package")
    done <"$unfinished"
    step "building programs, kinds: $kinds"
    # Cargo says on standard error what it compiles.
    cargo "$@" "${packages[@]}" "${arguments[@]}" --message-format=json-render-diagnostics >"$packed/messages"
    jq -r 'select(.reason == "compiler-artifact" and .executable) |
        [(.target.kind[0] + "/" + (.manifest_path | rtrimstr("/Cargo.toml")) + "/" + .target.name), .executable] | @tsv' \
        "$packed/messages" >"$built"
    while IFS=$'\t' read -r kind package name folder; do
        [[ " $kinds " == *" $kind "* ]] || continue
        executable=$(awk -F '\t' -v wanted="$kind/$(cd "$folder" && pwd)/$name" '$1 == wanted { print $2 }' "$built")
        [ -n "$executable" ] || { echo "$package: cargo built no $kind $name" >&2; exit 1; }
        to=$packed/programs/$package-$kind-$name
        strip -o "$to" "$executable"
        if grep -qaF "$PWD/" "$to"; then
            echo "$package, $kind $name has the path $PWD in it, and would look there on another machine:" >&2
            grep -aoE "$PWD/[[:print:]]{0,60}" "$to" | sort -u >&2
            exit 1
        fi
    done <"$unfinished"
    rm "$packed/messages" "$built"
}

# Says what begins.
step() { # TEXT
    echo "after $SECONDS s: $1"
}

pack() {
    local folder package taken mib tree
    rm -rf "$packed"
    mkdir -p "$packed/programs"
    echo "# commit $(git describe --always --dirty --abbrev=12)" >"$unfinished"
    for folder in . sys compile dlpack emulator; do
        package=$(sed -nE 's/^name = "(.*)"/\1/p' "$folder/Cargo.toml" | head -n 1)
        note_those_with_device test "$package" "$folder" tests
        mapfile -t taken < <(programs_in "$folder/examples" | cut -f 1)
        note_programs example "$package" "$folder" "${taken[@]}"
        [ "$folder" = . ] || note_those_with_device bench "$package" "$folder" benches
    done
    note_those_with_device bench cuprum-benches benches .
    note_programs bin cuprum-cli cli cuprum
    # As `cargo test` builds them: on a GPU nothing of them that takes time is ours.
    build 'test example bin' build
    # Measured are the wrappers alone; the emulator, which a GPU leaves aside, is most of what would be optimized.
    build bench bench --no-run --config 'profile.bench.package.cuprum-emulator.opt-level=0'
    step "compressing $(du -sm "$packed/programs" | cut -f 1) MiB"
    # Together, as all of them have the emulator: apart they would be more than half as large again. Preset 6 makes 21 MiB
    # of them and takes ten times as long as this one, which makes 26.
    tar -C "$packed" -c programs | xz --x86 --lzma2=preset=0,dict=128MiB >"$archive"
    rm -r "$packed/programs"
    mv "$unfinished" "$manifest"
    mib=$(($(du -sk "$packed" | cut -f 1) / 1024 + 1))
    tree=$(($(git ls-files -z --cached --others --exclude-standard | xargs -0 du -cb | tail -n 1 | cut -f 1) / 1048576 + 1))
    step "packed $(grep -vc '^#' "$manifest") programs, $mib MiB in $packed/, and the checkout has $tree MiB"
    if ((mib + tree > size_limit_mib)); then
        echo "that is more than the $size_limit_mib MiB that can be carried" >&2
        exit 1
    fi
}

# --- run ----------------------------------------------------------------------------------------------------

machine() {
    echo "- date: $(date -u '+%Y-%m-%d %H:%M UTC')"
    echo "- $(head -n 1 "$manifest" | tr -d '#' | sed 's/^ *commit/commit:/')"
    if [ "$CUPRUM_DEVICE" = gpu ]; then
        gpus
        echo "- CUDA: $(nvidia-smi | sed -nE 's/.*CUDA Version: *([0-9.]+).*/\1/p')"
    else
        echo "- device: $CUPRUM_DEVICE"
    fi
    echo "- host: $(uname -srm), $(nproc) CPUs"
}

# Unpacks the programs into a folder that goes when this ends.
unpack_all() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    unpack "$archive" | tar -x -C "$work"
}

# Runs one program and prints its row: what it is, tests passed, failed and ignored, seconds, verdict.
run_program() { # KIND PACKAGE NAME FOLDER LOG
    local kind=$1 package=$2 name=$3 folder=$4 log=$5
    local program=$work/programs/$package-$kind-$name
    local passed=- failed=- ignored=- arguments=() start=$EPOCHREALTIME status=0 verdict=ok
    [ "$kind" != bench ] || arguments=("${bench_arguments[@]}")
    # It succeeds where a driver starts and each device passes a smoke test.
    [ "$kind" != bin ] || arguments=(doctor --all)
    : >"$log"
    if [ -x "$program" ]; then
        start=$EPOCHREALTIME
        (cd "$folder" && timeout --kill-after=5 "$seconds_a_program" "$program" "${arguments[@]}") \
            </dev/null >"$log" 2>&1 || status=$?
    else
        status=missing
    fi
    if [ "$kind" = test ]; then
        read -r passed failed ignored < <(
            echo '0 0 0' | cat - "$log" |
                sed -nE '1p; s/^test result: .* ([0-9]+) passed; ([0-9]+) failed; ([0-9]+) ignored.*/\1 \2 \3/p' |
                tail -n 1
        )
        if [ "$status" = 0 ] && ((passed == 0)); then verdict='**no test ran**'; fi
    fi
    case $status in
    0) ;;
    124) verdict="**no end after $seconds_a_program s**" ;;
    137) verdict="**killed, or no end after $seconds_a_program s**" ;;
    missing) verdict='**missing**' ;;
    77) verdict='**lacks what it needs: see the log**' ;;
    *) verdict="**failed, status $status**" ;;
    esac
    awk -v OFS=' | ' -v seconds="$(seconds_since "$start")" \
        -v row="$package, $kind $name" -v a="$passed" -v b="$failed" -v c="$ignored" -v verdict="$verdict" \
        'BEGIN { print "| " row, a, b, c, sprintf("%.2f", seconds), verdict " |" }'
}

run() {
    local out results log rows kind package name folder row
    [ -s "$manifest" ] || { echo "nothing is packed: tests/gpu.sh pack first" >&2; exit 1; }
    export CUPRUM_DEVICE=${CUPRUM_DEVICE:-gpu}
    unpack_all
    export CRITERION_HOME=$work/criterion
    mkdir -p "${1:-$packed/results}"
    out=$(cd "${1:-$packed/results}" && pwd)
    results=$out/results.md rows=$work/rows log=$work/log
    : >"$out/log.txt" >"$rows"
    { echo '# Run on a device'; echo; machine; echo; } >"$results"
    {
        echo '| program | passed | failed | ignored | seconds | verdict |'
        echo '|---|--:|--:|--:|--:|---|'
    } | tee -a "$results"
    while IFS=$'\t' read -r kind package name folder; do
        row=$(run_program "$kind" "$package" "$name" "$folder" "$log")
        echo "$row" | tee -a "$results" "$rows"
        { echo "=== $package, $kind $name"; cat "$log"; } >>"$out/log.txt"
        if [ "$kind" = bench ]; then
            sed -n '/median ns/,/^$/p' "$log" >>"$work/tables"
        fi
    done < <(grep -v '^#' "$manifest")
    if [ -s "$work/tables" ]; then
        { echo; cat "$work/tables"; } | tee -a "$results"
    fi
    if grep -vqE '\| ok \|$' "$rows"; then
        echo; echo 'not all is well:'; grep -vE '\| ok \|$' "$rows"
        exit 1
    fi
}

# --- sanitize -----------------------------------------------------------------------------------------------

# Programs that fault, fork or end on purpose, or start others: a sanitizer has nothing to say of them. Random programs
# would take it an hour, and what is left of `leaks` forgets.
not_sanitized=(fault foreign_fault scope_after_fault fork exits properties leaks)
# Tests that forget what they made, or keep it in statics; their leaks are the point.
forgetful=(--skip forg --skip leak --skip destroyed --skip given_away --skip static)
# Tests that count the device's free bytes, which a sanitizer and the programs beside it change.
counting=(--skip dropping_frees_on_any_thread --skip cycles_leave_nothing_behind --skip a_drop_beside_another_device)

# Runs one test program under a tool and prints its row.
sanitize_program() { # TOOL PACKAGE NAME FOLDER LOG
    local tool=$1 package=$2 name=$3 folder=$4 log=$5 start=$EPOCHREALTIME status=0 verdict=clean
    local program=$work/programs/$package-test-$name options=(--tool "$tool" --error-exitcode 86 --print-limit 3)
    local arguments=(--test-threads 1 "${counting[@]}")
    if [ "$tool" = memcheck ]; then
        options+=(--leak-check full --report-api-errors no)
        arguments+=("${forgetful[@]}")
    fi
    (cd "$folder" && timeout --kill-after=5 "$seconds_under_a_sanitizer" \
        compute-sanitizer "${options[@]}" "$program" "${arguments[@]}") </dev/null >"$log" 2>&1 || status=$?
    case $status in
    0) grep -q 'test result: ok. [1-9]' "$log" || verdict='**no test ran**' ;;
    86) verdict='**errors**' ;;
    124 | 137) verdict="**no end after $seconds_under_a_sanitizer s**" ;;
    *) verdict="**failed, status $status**" ;;
    esac
    awk -v OFS=' | ' -v seconds="$(seconds_since "$start")" -v row="$tool, $package, test $name" \
        -v summary="$(sed -nE 's/^=+ ((ERROR|RACECHECK|LEAK) SUMMARY:.*)/\1/p' "$log" | paste -sd ';')" \
        -v verdict="$verdict" 'BEGIN { print "| " row, summary, sprintf("%.1f", seconds), verdict " |" }'
}

sanitize() {
    local out tool kind package name folder row failed=0
    [ -s "$manifest" ] || { echo "nothing is packed: tests/gpu.sh pack first" >&2; exit 1; }
    PATH=$PATH:/usr/local/cuda/bin
    command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not on the PATH" >&2; exit 1; }
    export CUPRUM_DEVICE=gpu
    unpack_all
    mkdir -p "${1:-$packed/results}"
    out=$(cd "${1:-$packed/results}" && pwd)
    : >"$out/sanitized.txt"
    { echo '# Tests under compute-sanitizer'; echo; machine; echo "- $(compute-sanitizer --version | tail -n 1)"; echo; } \
        >"$out/sanitized.md"
    { echo '| program | summary | seconds | verdict |'; echo '|---|---|--:|---|'; } | tee -a "$out/sanitized.md"
    while IFS=$'\t' read -r kind package name folder; do
        [[ $kind = test && " ${not_sanitized[*]} " != *" $name "* ]] || continue
        for tool in memcheck racecheck; do
            sanitize_program "$tool" "$package" "$name" "$folder" "$work/$package-$name-$tool.log" |
                tee -a "$out/sanitized.md" "$work/$package-$name-$tool.row" &
            while (($(jobs -rp | wc -l) >= 8)); do wait -n || true; done
        done
    done < <(grep -v '^#' "$manifest")
    wait
    for row in "$work"/*.row; do
        { head -n 1 "$row"; cat "${row%.row}.log"; } >>"$out/sanitized.txt"
        grep -q '| clean |$' "$row" || failed=1
    done
    return $failed
}

command_of pack run sanitize -- "$@"
