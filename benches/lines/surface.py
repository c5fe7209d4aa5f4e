"""Counts the public surface of the crate `cuprum`: what a newcomer can meet, and what an owner has to keep.

    RUSTDOCFLAGS=--cap-lints=allow cargo doc -p cuprum --no-deps --all-features
    python3 benches/lines/surface.py [FOLDER]        FOLDER: target/doc

Types are those that rustdoc lists on the page of all items; functions are the lines that begin with `pub fn` in `src`,
modifiers included, whether or not a private module hides them; lines are all lines of `src`.
"""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
documentation = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else root / "target/doc")

page = (documentation / "cuprum/all.html").read_text()
sections = dict(re.findall(r'<h3 id="(\w+)">.*?</h3><ul class="all-items">(.*?)</ul>', page, flags=re.S))
kinds = {kind: sections.get(kind, "").count("<li>") for kind in ("structs", "enums", "traits")}

files = list((root / "src").rglob("*.rs"))
texts = [path.read_text() for path in files]
functions = sum(len(re.findall(r"^\s*pub (?:const |unsafe |async )*fn ", text, flags=re.M)) for text in texts)
copies = r"^\s*pub (?:const |unsafe |async )*fn (?:copy|fill|set_bytes|add_copy|add_fill|set_copy|set_fill)\w*"
copies = sum(len(re.findall(copies, text, flags=re.M)) for text in texts)

print(f"public types       {sum(kinds.values()):6}  ({', '.join(f'{count} {kind}' for kind, count in kinds.items())})")
print(f"pub fn             {functions:6}")
print(f"  that copy, fill  {copies:6}")
print(f"lines of src       {sum(text.count(chr(10)) for text in texts):6}")
