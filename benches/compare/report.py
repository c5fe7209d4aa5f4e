"""Makes the table and the plot of what measure.py wrote.

    python3 report.py compare.json FOLDER

writes DATE-GPU-compare.md and DATE-GPU-compare.svg into the folder, and prints their paths. What was not measured on a
GPU is refused, unless `--any-device` says that it is only tried.
"""

import argparse
import html
import json
import pathlib
import re
import statistics

REFERENCE = "C"
OURS = "cuprum"
# Titles, and what each is in the driver API.
OPERATIONS = {
    "launch": ("launch an empty kernel", "no wait"),
    "launch_arguments": ("launch with 4 arguments", "saxpy on 32 elements, no wait"),
    "launch_wait": ("launch, and wait", "an empty kernel"),
    "to_device": ("copy 4 KiB to the device", "from pageable memory"),
    "to_host": ("copy 4 KiB to the host", "to pageable memory"),
    "alloc": ("alloc and free 1 MiB", "cuMemAlloc, cuMemFree"),
    "alloc_ordered": ("alloc and free, stream-ordered", "1 MiB, cuMemAllocAsync, cuMemFreeAsync"),
    "event": ("time with two events", "2 records, a wait, the elapsed time"),
    "graph": ("launch a graph", "20 empty kernels, no wait"),
    "saxpy": ("saxpy on vectors of 1 MiB", "memory, 3 copies and a launch"),
}

# The plot, in pixels.
COLUMNS, PANEL_WIDTH, PANEL_HEIGHT = 3, 300, 164
NAME_WIDTH, VALUE_WIDTH, BAR, STEP, TOP = 64, 58, 11, 16, 42
STYLE = """
  text { font: 11px system-ui, sans-serif; fill: #1f2328; stroke: #ffffff; stroke-width: 3px; paint-order: stroke }
  .ground { fill: #ffffff } .title { font-weight: 600; font-size: 12px } .main { font-weight: 600; font-size: 15px }
  .small { fill: #59636e; font-size: 10px } .ours { font-weight: 600 }
  rect.bar { fill: #8c959f } rect.reference { fill: #59636e } rect.ours { fill: #b35900 }
  .axis { stroke: #d1d9e0 } .level { stroke: #59636e; stroke-dasharray: 2 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; stroke: #0d1117 } .ground { fill: #0d1117 } .small { fill: #9198a1 }
    rect.bar { fill: #656c76 } rect.reference { fill: #9198a1 } rect.ours { fill: #f0883e }
    .axis { stroke: #3d444d } .level { stroke: #9198a1 }
  }
"""


class Cell:
    """One operation through one layer."""

    def __init__(self, rounds, layer):
        times = [answers[layer] for answers in rounds if answers.get(layer) is not None]
        ratios = [
            answers[layer] / answers[REFERENCE]
            for answers in rounds
            if answers.get(layer) is not None and answers.get(REFERENCE)
        ]
        self.median = statistics.median(times) if times else None
        self.ratio = statistics.median(ratios) if ratios else None
        # Half of the width in which half of the rounds lie, as a part of the median.
        self.spread = 0.0
        if len(times) >= 4:
            low, _, high = statistics.quantiles(times, n=4)
            self.spread = (high - low) / 2 / self.median


def cells(result):
    """For each operation, its cells by layer."""
    return {
        operation: {layer: Cell(result["rounds"][operation], layer) for layer in result["layers"]}
        for operation in OPERATIONS
    }


def microseconds(nanoseconds):
    """With three digits that count."""
    value = nanoseconds / 1000
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(result, measured):
    """Lines of Markdown."""
    layers = list(result["layers"])
    lines = ["| median ns (ratio to C) | " + " | ".join(layers) + " |", "|---|" + "--:|" * len(layers)]
    for operation, (title, _) in OPERATIONS.items():
        row = [
            "–" if cell.median is None else f"{cell.median:,.0f} ({cell.ratio:.2f})".replace(",", " ")
            for cell in measured[operation].values()
        ]
        lines.append(f"| {title} | " + " | ".join(row) + " |")
    return lines


def text(result, measured, plot):
    """The page of the record."""
    machine, rounds = result["machine"], max(len(rounds) for rounds in result["rounds"].values())
    spreads = sorted(cell.spread for row in measured.values() for cell in row.values() if cell.median is not None)
    lines = ["# The same through C, cuprum and others", ""]
    lines += [f"- date: {machine['date']}", f"- commit: {machine['commit']}", f"- GPU: {machine['gpu']}"]
    lines += [f"- host: {machine['host']}", f"- Python {machine['python']}", f"- {'; '.join(result['layers'].values())}"]
    lines += [f"- **{layer} failed**: {failure}" for layer, failure in result["failures"].items()]
    lines += ["", f"![the medians as bars]({plot})", "", *table(result, measured), ""]
    lines += [
        f"Each layer is a process; all are asked for the same operation in turn, {rounds} times. The ratio is the median",
        "over rounds of the ratio within a round. Half of the rounds lie within "
        f"{spreads[len(spreads) // 2]:.1%} of the median in the middle cell, within {spreads[-1]:.1%} in the worst.",
        "",
    ]
    lines += [f"- {title}: {what}" for title, what in OPERATIONS.values()]
    lines += [
        "- Streams are the layers' usual ones: the default one in cudarc and CuPy, one of the program's own in the others.",
        "- Memory of saxpy is what the layers usually take: new memory in C, cuprum and PyCUDA, memory in a stream's order in",
        "  cudarc and cuda.core, and in CuPy that of a pool which keeps it.",
        "- Copies wait in C, cuprum and PyCUDA; cudarc queues them. cuprum queues copies in a scope, and has memory in a stream's",
        "  order and pools that keep it by types of their own.",
        "- A dash: the layer's own interface does not have it, or it failed, as said above. What the layers do for each is in `benches/compare`.",
        "",
    ]
    return "\n".join(lines)


def ticks(most):
    """Round numbers from 0 to `most` or more, three to five of them."""
    digits = len(str(int(most * 1000))) - 5
    step = next(step * 10**digits for step in (1, 2, 5, 10, 20, 50) if most <= 4 * step * 10**digits)
    return [step * number for number in range(int(-(-most // step)) + 1)]


class Drawing:
    """Elements of an SVG."""

    def __init__(self):
        self.lines = []

    def text(self, x, y, words, kind="", anchor="start"):
        self.lines.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{html.escape(words)}</text>')

    def line(self, x1, y1, x2, y2, kind):
        self.lines.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def bar(self, x, y, width, kind):
        self.lines.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{BAR}" class="bar {kind}"/>')


def panel(drawing, left, top, operation, row, failures):
    """The bars of one operation, on an axis of their own."""
    title, what = OPERATIONS[operation]
    drawing.text(left, top + 12, title, "title")
    drawing.text(left, top + 26, what, "small")
    marks = ticks(max((cell.median for cell in row.values() if cell.median is not None), default=1.0) / 1000)
    start, width = left + NAME_WIDTH, PANEL_WIDTH - NAME_WIDTH - VALUE_WIDTH
    bottom = top + TOP + STEP * len(row) - 2
    for mark in marks:
        x = start + width * mark / marks[-1]
        drawing.line(x, top + TOP - 4, x, bottom, "axis")
        drawing.text(x, bottom + 12, f"{mark:g}" + (" µs" if mark == marks[-1] else ""), "small", "middle")
    place = {
        layer: (top + TOP + STEP * number, 0 if cell.median is None else width * cell.median / 1000 / marks[-1])
        for number, (layer, cell) in enumerate(row.items())
    }
    kinds = {REFERENCE: "reference", OURS: "ours"}
    for layer, (y, length) in place.items():
        if row[layer].median is not None:
            drawing.bar(start, y, max(length, 1), kinds.get(layer, ""))
    if REFERENCE in row:
        drawing.line(start + place[REFERENCE][1], top + TOP - 4, start + place[REFERENCE][1], bottom, "level")
    for layer, (y, length) in place.items():
        drawing.text(start - 6, y + BAR - 2, layer, kinds.get(layer, ""), "end")
        if row[layer].median is None:
            failed = f"{operation}: " in failures.get(layer, "")
            drawing.text(start + 4, y + BAR - 2, "failed" if failed else "not in its interface", "small")
        else:
            drawing.text(start + length + 4, y + BAR - 2, microseconds(row[layer].median), kinds.get(layer, ""))


def plot(result, measured):
    """An SVG for light and dark pages."""
    drawing, head = Drawing(), 34
    slots = len(OPERATIONS) + 1
    width, height = COLUMNS * PANEL_WIDTH + 30, head + -(-slots // COLUMNS) * PANEL_HEIGHT + 6
    machine = result["machine"]
    drawing.text(15, 22, "Microseconds per operation, through each layer's usual interface; less is better", "main")
    for number, operation in enumerate(OPERATIONS):
        left, top = 15 + number % COLUMNS * PANEL_WIDTH, head + number // COLUMNS * PANEL_HEIGHT
        panel(drawing, left, top, operation, measured[operation], result["failures"])
    left, top = 15 + len(OPERATIONS) % COLUMNS * PANEL_WIDTH, head + len(OPERATIONS) // COLUMNS * PANEL_HEIGHT
    rounds = max(len(rounds) for rounds in result["rounds"].values())
    notes = [machine["gpu"], machine["date"], f"medians of {rounds} rounds, in which all take turns"]
    notes += ["dashed: the time that C takes", *result["layers"].values()]
    for number, note in enumerate(notes):
        drawing.text(left, top + 14 + 14 * number, note, "small")
    name = "Bars: microseconds per operation for " + ", ".join(result["layers"])
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
            f"<title>{html.escape(name)}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="ground" width="{width}" height="{height}" rx="6"/>',
            *drawing.lines,
            "</svg>",
            "",
        ]
    )


def name_of(machine):
    """DATE-GPU, with the letters and digits that GPUs are called by."""
    found = re.search(r"\b[A-Z]*\d+[A-Za-z]*\b", machine["gpu"])
    return f"{machine['date'][:10]}-{found[0] if found else 'no-GPU'}-compare"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--any-device", action="store_true")
    options = parser.parse_args()
    result = json.loads(options.measured.read_text())
    if result["machine"]["gpu"] == "no GPU" and not options.any_device:
        parser.error("this was not measured on a GPU")
    measured, name = cells(result), name_of(result["machine"])
    for end, content in [(".svg", plot(result, measured)), (".md", text(result, measured, f"{name}.svg"))]:
        path = options.folder / (name + end)
        path.write_text(content)
        print(path)


if __name__ == "__main__":
    main()
