"""What `xebench list` takes, against Python that does nothing: ``python tools/list_cost.py``.

Both are run in turn; the least time of each is the one that the rest of the machine disturbed least.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

RUNS = 40


def cost(*arguments: str) -> tuple[float, float]:
    """Milliseconds of the processor, and by the clock, that Python takes with these arguments."""
    begin_s = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, _, used = os.wait4(process.pid, 0)
    return 1e3 * (used.ru_utime + used.ru_stime), 1e3 * (time.perf_counter() - begin_s)


def main() -> None:
    """Print the least times, and their ratios."""
    listing = "import sys; sys.argv = ['xebench', 'list']; from xebench.cli.main import main; main()"
    runs = [(cost("-c", "pass"), cost("-c", listing)) for _ in range(RUNS)]
    for what, number in (("processor", 0), ("clock", 1)):
        bare, ours = (min(run[side][number] for run in runs) for side in (0, 1))
        print(f"{what}: python {bare:.0f} ms, xebench list {ours:.0f} ms, {ours / bare:.1f} times")


if __name__ == "__main__":
    main()
