"""The table and the plot of figures that were made up."""

import json
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
import report

SVG = "{http://www.w3.org/2000/svg}"
LAYERS = {"C": "C, cuda.h 13.0", "cuprum": "cuprum", "PyCUDA": "PyCUDA <1>"}
# Of three rounds the second is slow for all, as a machine now and then is.
ROUNDS = [(1000, 1100, 3000), (9000, 9900, 27000), (2000, 2200, 5000)]


def result(**machine):
    """All layers but one have all operations."""
    rounds = {
        name: [dict(zip(LAYERS, (c, cuprum, None if name == "graph" else pycuda))) for c, cuprum, pycuda in ROUNDS]
        for name in report.OPERATIONS
    }
    about = {"date": "2026-01-02 03:04 UTC", "commit": "abc", "gpu": "NVIDIA H100 80GB HBM3, 580.1", "host": "", "python": ""}
    return {"machine": about | machine, "layers": LAYERS, "failures": {"CuPy": "no module"}, "rounds": rounds}


def test_medians_and_ratios_within_a_round():
    measured = report.cells(result())
    cell = measured["launch"]["PyCUDA"]
    # The medians alone would say 5000 / 2000.
    assert (cell.median, cell.ratio) == (5000, 3.0)
    assert measured["graph"]["PyCUDA"].median is None
    lines = report.table(result(), measured)
    assert lines[0] == "| median ns (ratio to C) | C | cuprum | PyCUDA |"
    assert lines[2] == "| launch an empty kernel | 2 000 (1.00) | 2 200 (1.10) | 5 000 (3.00) |"
    assert "| launch a graph | 2 000 (1.00) | 2 200 (1.10) | – |" in lines


def test_the_text_names_what_failed():
    text = report.text(result(), report.cells(result()), "plot.svg")
    assert "- **CuPy failed**: no module" in text and "![the medians as bars](plot.svg)" in text


def test_the_plot_has_a_bar_for_each_cell_in_its_length():
    root = xml.fromstring(report.plot(result(), report.cells(result())))
    bars = [float(bar.get("width")) for bar in root.iter(SVG + "rect") if "bar" in bar.get("class")]
    assert len(bars) == len(report.OPERATIONS) * len(LAYERS) - 1
    c, cuprum, pycuda = bars[:3]
    assert cuprum / c == pytest.approx(1.1, 0.01) and pycuda / c == pytest.approx(2.5, 0.01)
    words = [text.text for text in root.iter(SVG + "text")]
    assert words.count("not in its interface") == 1 and "failed" not in words and "PyCUDA <1>" in words and "2.20" in words
    assert sum(word.endswith(" µs") for word in words) == len(report.OPERATIONS)


def test_what_failed_is_not_called_missing():
    failed = result() | {"failures": {"PyCUDA": "graph: no memory"}}
    words = [text.text for text in xml.fromstring(report.plot(failed, report.cells(failed))).iter(SVG + "text")]
    assert words.count("failed") == 1 and "not in its interface" not in words


@pytest.mark.parametrize("most", [0.012, 0.9, 1.0, 2.63, 8.18, 99.9, 1194.0, 20000.0])
def test_axes_end_at_a_round_number_beyond_the_longest(most):
    ticks = report.ticks(most)
    assert ticks[0] == 0 and 2 <= len(ticks) <= 6
    assert most <= ticks[-1] <= 2.5 * most


@pytest.mark.parametrize("gpu, name", [("NVIDIA H100 80GB HBM3, 580", "H100"), ("NVIDIA GeForce RTX 4090, 5", "4090"), ("Tesla T4, 5", "T4")])
def test_files_are_named_after_the_gpu(gpu, name):
    assert name in report.name_of(result(gpu=gpu)["machine"])


def test_what_no_gpu_measured_is_refused(tmp_path):
    (tmp_path / "compare.json").write_text(json.dumps(result(gpu="no GPU")))
    command = [sys.executable, str(Path(report.__file__)), str(tmp_path / "compare.json"), str(tmp_path)]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 2 and "not measured on a GPU" in refused.stderr
    subprocess.run([*command, "--any-device"], check=True)
    assert len(list(tmp_path.glob("2026-01-02-no-GPU-compare.*"))) == 2
