"""What the Python programs do alike: they answer measure.py, and time."""

import sys
import time

ELEMENTS = 1 << 18
COPIED_BYTES = 4 << 10
ALLOCATED_BYTES = 1 << 20
KERNELS = 20
WARM_UP = 4


def timed(once, times, settle):
    """Nanoseconds of one time. What was queued, `settle` waits for outside of the time."""
    for _ in range(WARM_UP):
        once()
    settle()
    start = time.perf_counter_ns()
    for _ in range(times):
        once()
    end = time.perf_counter_ns()
    settle()
    return (end - start) / times


def serve(about, operations, settle):
    """Says who answers, then for each line `OPERATION TIMES` the nanoseconds of one time, `-` for what it lacks, or `!`
    and the error."""
    print(about, flush=True)
    for line in sys.stdin:
        operation, times = line.split()
        once = operations[operation]
        try:
            answer = "-" if once is None else f"{timed(once, int(times), settle):.1f}"
        except Exception as error:  # The other operations may work.
            answer = f"! {type(error).__name__}: {error}".replace("\n", " ")
        print(answer, flush=True)
