#!/usr/bin/env python3
"""Counts lines of code of the programs in `programs/`, and prints a table in Markdown.

Not counted: empty lines and comments. The second number leaves out imports too. Rust is formatted by rustfmt's own
defaults first (`check.sh` sees to it), Python by hand to 88 columns.

With `--check` it fails if a program of cuprum's has more lines than the one of cudarc's.
"""

import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).parent / "programs"
LIBRARIES = {"cuprum": "cuprum.rs", "cudarc": "cudarc.rs", "PyCUDA": "with_pycuda.py"}


def code(text, comment):
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith(comment)]


def without_imports(text, is_rust):
    pattern = r"^use [^;]*;\n" if is_rust else r"^(import|from) .*\n"
    return re.sub(pattern, "", text, flags=re.MULTILINE)


def count(path):
    text, is_rust = path.read_text(), path.suffix == ".rs"
    comment = "//" if is_rust else "#"
    return len(code(text, comment)), len(code(without_imports(text, is_rust), comment))


print("| program | " + " | ".join(LIBRARIES) + " |")
print("|---|" + "--:|" * len(LIBRARIES))
longer = []
for program in sorted(path for path in FOLDER.iterdir() if path.is_dir()):
    counts = {library: count(program / file) for library, file in LIBRARIES.items()}
    cells = [f"{lines} ({without})" for lines, without in counts.values()]
    print(f"| {program.name} | " + " | ".join(cells) + " |")
    if counts["cuprum"][0] > counts["cudarc"][0]:
        longer.append(program.name)
if longer and "--check" in sys.argv[1:]:
    sys.exit(f"cuprum's program is longer than cudarc's: {', '.join(longer)}")
