"""What the software device reports, read from the file that it appends to."""

import collections
import json

#: What counts as a mistake of a program. The others say what the device cannot do.
MISTAKES = ["fault", "leak"]


class Reports:
    """The reports in a file, in the order in which they came."""

    def __init__(self, path):
        self.path, self._read, self.all = path, 0, []

    def new(self):
        """Those since the last call."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self._read)
                lines = file.read().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        # A line that is still being written is for the next call.
        whole = [line for line in lines if line.endswith(b"\n")]
        self._read += sum(map(len, whole))
        found = [json.loads(line.decode(errors="replace")) for line in whole]
        self.all += found
        return found


def mistakes(reports):
    return [report for report in reports if report["kind"] in MISTAKES]


def _counted(number, kind):
    return f"{number} {kind}" if number == 1 or kind not in ["report", *MISTAKES] else f"{number} {kind}s"


def summary(reports):
    """One line: how many there are of each kind."""
    kinds = collections.Counter(report["kind"] for report in reports)
    each = f" ({', '.join(_counted(number, kind) for kind, number in kinds.items())})" if reports else ""
    return f"software CUDA device: {_counted(len(reports), 'report')}{each}"
