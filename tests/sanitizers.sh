#!/usr/bin/env bash
# Runs the tests of the safe layer and of the emulator under a sanitizer, on a nightly toolchain with its sources.
#
#     tests/sanitizers.sh thread     data races: ThreadSanitizer
#     tests/sanitizers.sh address    memory: AddressSanitizer, without its search for leaks (tests leak on purpose)
#     tests/sanitizers.sh miri       undefined behavior: Miri, on what needs no foreign code
#
# Names after that are the only programs to run. The standard library is built with the sanitizer too. Whatever a
# sanitizer reports, and a test that fails, fails the script. What was found is written to target/sanitizers/KIND.md,
# which goes into tests/results/sanitizers.md, and the reports themselves beside it. `TOOLCHAIN` names another toolchain;
# `SECONDS_A_PROGRAM` gives each program other than 600 seconds, which a busy machine needs.
#
#     rustup toolchain install nightly --component rust-src,miri
set -euo pipefail
cd "$(dirname "$0")/.."

toolchain=${TOOLCHAIN:-nightly}
target=x86_64-unknown-linux-gnu
seconds_a_program=${SECONDS_A_PROGRAM:-600}
out=$PWD/target/sanitizers

# Left out, as they start other programs or run none of our code: assembly, examples, rules, ui; as they
# run for long on one thread: fuzz, and what is skipped below; as they count time: growth; as they need Mesa: opengl. `lib` are
# the tests beside the code.
cuprum_programs=(lib objects traced graph regions compute device_choice exits fault foreign_fault fork leaks lost peers processes properties reports scope_after_fault soundness swallowed)
# Tests that are skipped in each program: one run in thousands of processes, the program many times over, random programs,
# and what compares with recordings.
declare -A skipped=(
    [traced]='--skip injection:: --skip old_drivers:: --skip stack::'
    [engine]='--skip differential:: --skip accesses:: --skip goldens:: --skip matrix:: --skip parser::'
    [driver]='--skip textures:: --skip sanitizer:: --skip versions::'
)
# Tests that are skipped under one sanitizer: a flood of printed lines is measured by the memory of the process, of which
# AddressSanitizer keeps what was freed. The host reads memory that copies after a fault still write, as it can on GPUs.
declare -A skipped_under=(
    [address-driver]='--skip printing::a_flood'
    [thread-driver]='--skip outlive::copies_of_locked_memory_go_on --skip outlive::the_end_of_the_context_waits'
)
# Not under this sanitizer: the device writes beside the host there, on purpose, as GPUs do after a fault.
declare -A not_under=([thread]=' lost scope_after_fault ')
engine_programs=(lib engine)
emulator_programs=(lib driver driver_order driver_shuffled driver_streamcheck driver_threads driver_virtual driver_waits messages)
sys_programs=(lib resolver)
tracer_programs=(lib)
# Run again with work done at other times than inside of the calls.
again_in=(async deferred)
again=(compute graph leaks objects)
# What Miri runs: package, how strict it is with addresses, arguments. It has no fork, no mapping at an address of our
# choice, no libraries to load, no child processes. The emulator and the tests' tracer take addresses of the host from
# numbers, as a driver must, so that they get the laxer rule. Left out is what counts through everything and takes hours, and what relies on
# a function having one address: under Miri it has a new one whenever it is taken.
miri_runs=(
    'cuprum-sys strict --lib --test resolver -- --skip minimal_driver'
    'cuprum strict --lib --test swallowed'
    'cuprum permissive --test traced -- answers:: calls:: provenance::'
    'cuprum-test-interop strict --test dlpack -- memory_of_the_host_changes'
    'cuprum-engine permissive --lib -- --skip every_order --skip neighbors_across'
    'cuprum-ptx permissive --lib'
    'cuprum-emulator permissive --lib'
    'cuprum permissive --test objects -- memory::data_goes memory::copies_of_unequal memory::parts_are'
)

# --- programs under a sanitizer -----------------------------------------------------------------------------

# Builds test programs of a package and prints name and path of each.
built() { # PACKAGE NAME...
    local package=$1 name arguments=()
    shift
    for name in "$@"; do
        if [ "$name" = lib ]; then arguments+=(--lib); else arguments+=(--test "$name"); fi
    done
    cargo "+$toolchain" test -q -Zbuild-std --target "$target" --target-dir "target/sanitized-$kind" --no-run \
        --config 'profile.dev.package.cuprum-emulator.debug="line-tables-only"' \
        --config 'profile.dev.package.cuprum-engine.debug="line-tables-only"' \
        --config 'profile.dev.package.cuprum-ptx.debug="line-tables-only"' \
        -p "$package" "${arguments[@]}" --message-format=json |
        jq -r 'select(.reason == "compiler-artifact" and .executable) | [if .target.kind[0] == "test" then .target.name else "lib" end, .executable] | @tsv'
}

# Runs one program and prints its row.
run_program() { # PACKAGE FOLDER NAME EXECUTABLE [MODE]
    local package=$1 folder=$2 name=$3 executable=$4 log=$out/$kind-$1-$3${5:+-$5}.log status=0 start=$SECONDS counts reports verdict=ok
    # shellcheck disable=SC2086 # several arguments
    (cd "$folder" && timeout --kill-after=5 "$seconds_a_program" "$executable" ${skipped[$name]:-} ${skipped_under[$kind-$name]:-}) </dev/null >"$log" 2>&1 ||
        status=$?
    counts=$(sed -nE 's/^test result: .* ([0-9]+) passed; ([0-9]+) failed; ([0-9]+) ignored.*/\1 | \2 | \3/p' "$log" | tail -n 1)
    reports=$(grep -cE '(WARNING|ERROR): (Thread|Address)Sanitizer' "$log" || true)
    if [ "$status" != 0 ] || ((reports > 0)); then verdict="**status $status**"; fi
    echo "| $package, $name${5:+, $5} | ${counts:-- | - | -} | $reports | $((SECONDS - start)) | $verdict |"
}

sanitize() { # NAME...
    local -A wanted=()
    local name package folder executable programs mode
    for name in "$@"; do wanted[$name]=1; done
    echo '| program | passed | failed | ignored | reports | seconds | verdict |'
    echo '|---|--:|--:|--:|--:|--:|---|'
    for package in cuprum cuprum-engine cuprum-emulator cuprum-sys cuprum-tracer; do
        case $package in
        cuprum) folder=. programs=("${cuprum_programs[@]}") ;;
        cuprum-engine) folder=emulator/engine programs=("${engine_programs[@]}") ;;
        cuprum-emulator) folder=emulator programs=("${emulator_programs[@]}") ;;
        cuprum-sys) folder=sys programs=("${sys_programs[@]}") ;;
        cuprum-tracer) folder=tracer programs=("${tracer_programs[@]}") ;;
        esac
        if (($# > 0)); then
            local chosen=()
            for name in "${programs[@]}"; do [ -z "${wanted[$name]:-}" ] || chosen+=("$name"); done
            programs=("${chosen[@]}")
        fi
        local kept=()
        for name in "${programs[@]}"; do [[ ${not_under[$kind]:-} == *" $name "* ]] || kept+=("$name"); done
        programs=("${kept[@]}")
        ((${#programs[@]} > 0)) || continue
        built "$package" "${programs[@]}" >"$out/$kind.built"
        for name in "${programs[@]}"; do
            executable=$(awk -F '\t' -v name="$name" '$1 == name { print $2 }' "$out/$kind.built")
            run_program "$package" "$folder" "$name" "$executable"
            if [ "$package" = cuprum ] && [[ " ${again[*]} " == *" $name "* ]]; then
                for mode in "${again_in[@]}"; do
                    CUPRUM_EMULATOR_MODE=$mode run_program "$package" "$folder" "$name" "$executable" "$mode"
                done
            fi
        done
    done
}

# --- Miri ---------------------------------------------------------------------------------------------------

interpret() {
    local run package rules arguments log status row start flags=$MIRIFLAGS count=0
    echo '| what | provenance | passed | failed | ignored | seconds | verdict |'
    echo '|---|---|--:|--:|--:|--:|---|'
    for run in "${miri_runs[@]}"; do
        read -r package rules arguments <<<"$run"
        count=$((count + 1))
        log=$out/miri-$count-$package-$rules.log status=0 start=$SECONDS
        # shellcheck disable=SC2086 # several arguments
        MIRIFLAGS="$flags -Zmiri-$rules-provenance" timeout "$seconds_a_program" \
            cargo "+$toolchain" miri test --target-dir target/sanitized-miri -p "$package" $arguments >"$log" 2>&1 || status=$?
        row=$(sed -nE 's/^test result: .* ([0-9]+) passed; ([0-9]+) failed; ([0-9]+) ignored.*/\1 \2 \3/p' "$log" |
            awk '{ p += $1; f += $2; i += $3 } END { print p + 0, "|", f + 0, "|", i + 0 }')
        if [ "$status" = 0 ]; then status=ok; else status="**status $status**"; fi
        echo "| $package, \`$arguments\` | $rules | $row | $((SECONDS - start)) | $status |"
    done
}

# Host accesses to device memory are faults, which a handler of the emulator names, and tests provoke.
signals='handle_segv=0 handle_sigbus=0'
kind=${1:-}
case $kind in
thread)
    export RUSTFLAGS="-Zsanitizer=thread"
    export TSAN_OPTIONS="report_thread_leaks=0 die_after_fork=0 exitcode=66 $signals ${TSAN_OPTIONS:-}"
    command=sanitize
    ;;
address)
    export RUSTFLAGS="-Zsanitizer=address" ASAN_OPTIONS="detect_leaks=0 exitcode=66 $signals ${ASAN_OPTIONS:-}"
    command=sanitize
    ;;
miri)
    export MIRIFLAGS="-Zmiri-disable-isolation ${MIRIFLAGS:-}"
    command=interpret
    ;;
*)
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
    ;;
esac
mkdir -p "$out"
{
    echo "- date: $(date -u '+%Y-%m-%d %H:%M UTC'), commit $(git describe --always --dirty --abbrev=12)"
    echo "- $(rustc "+$toolchain" --version), $(nproc) CPUs"
    echo "- ${RUSTFLAGS:-$MIRIFLAGS}"
    echo
    "$command" "${@:2}"
} | tee "$out/$kind.md"
! grep -qE '\| \*\*status' "$out/$kind.md"
