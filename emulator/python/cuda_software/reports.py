"""What the software device reports, read from the file that it appends to: of each report a line with its kind, and the
lines of its text, each behind a tab. A line `use` says that a process has called the driver."""

import dataclasses

#: Kinds of reports, one and several of it, and whether one is a mistake of the program. As `cuprum run` has them.
KINDS = {
    "fault": ("fault of a kernel", "faults of kernels", True),
    "unordered": ("missing order between streams", "missing orders between streams", True),
    "misuse": ("misuse of the API", "misuses of the API", True),
    "leaks": ("context with leaks", "contexts with leaks", True),
    "held": ("process that held something to its end", "processes that held something to their end", False),
    "settings": ("setting that makes no sense", "settings that make no sense", True),
    "leftout": ("count of reports left out", "counts of reports left out", False),
    "refused": ("module or launch refused", "modules or launches refused", False),
    "late": ("launch that hardware may run late", "launches that hardware may run late", False),
    "unsupported": ("function not supported", "functions not supported", False),
}


@dataclasses.dataclass
class Report:
    kind: str
    text: str


class Reports:
    """The reports in a file, in the order in which they came."""

    def __init__(self, path):
        self.path, self._read = path, 0
        #: Number of processes that have called the driver.
        self.users = 0

    def new(self):
        """Those since the last call. A report is written in one piece."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self._read)
                text = file.read()
        except FileNotFoundError:
            return []
        self._read += len(text)
        found = []
        for line in text.decode(errors="replace").split("\n"):
            if line.startswith("\t") and found:
                found[-1].text += ("\n" if found[-1].text else "") + line[1:]
            elif line == "use":
                self.users += 1
            elif line:
                found.append(Report(line, ""))
        return found


def mistakes(reports):
    """Those that are mistakes of the program; the others say what the device cannot do."""
    return [report for report in reports if KINDS.get(report.kind, ("", "", False))[2]]


def counted(kinds):
    """The counts of each kind, such as "2 faults of kernels, 1 module or launch refused"."""
    counts = {kind: sum(one == kind for one in kinds) for kind in KINDS}
    words = [f"{n} {KINDS[kind][0 if n == 1 else 1]}" for kind, n in counts.items() if n]
    return ", ".join(words) or "nothing"
