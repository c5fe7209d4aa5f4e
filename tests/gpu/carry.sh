# For scripts that take programs to a machine with a GPU and no Rust: sourced by those that have a `pack` and a `run`.

# A program of a folder, stripped and compressed.
pack_program() { # PROGRAM PACKED
    strip -o "$2" "$1"
    xz -6 "$2"
}

# Python has the decoder too, where there is no `xz`.
unpack() { # FILE
    xz -dc "$1" 2>/dev/null || python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)' "$1"
}

# The GPUs, as lines of Markdown.
gpus() {
    nvidia-smi --query-gpu=index,name,driver_version,memory.total --format=csv,noheader |
        sed -E 's/^([^,]*), ([^,]*), ([^,]*), (.*)$/- GPU \1: \2, driver \3, \4/' || echo '- GPU: nvidia-smi does not say'
}

# Seconds since a time, which `$EPOCHREALTIME` said.
seconds_since() { # TIME
    awk "BEGIN { print $EPOCHREALTIME - $1 }"
}

# Runs the function that the first argument names, or says what there is, which is the script's first comment.
command_of() { # NAME... -- ARGUMENT...
    local names=()
    while [ "$1" != -- ]; do
        names+=("$1")
        shift
    done
    shift
    if [[ " ${names[*]} " == *" ${1:-none} "* ]]; then
        "$@"
    else
        sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
        exit 2
    fi
}
