"""Print what a sample costs beside its commands, against a plain dpctl loop of the same launches in the same process.

Rounds of both sides are taken in turns, of an empty kernel: all that is left is overhead.
"""

from __future__ import annotations

import sys

from xebench.system import runtime

ROUNDS = 40


def main(device: str) -> None:
    """Print host time a sample of both sides, and their ratio."""
    runtime.load()
    from xebench.measuring.instrument import empty_launch, sample_overheads
    from xebench.measuring.session.session import Session

    session = Session.on(device)
    overheads = sample_overheads(session, *empty_launch(session), rounds=ROUNDS)
    print(f"host time a sample beside its commands, medians of {ROUNDS} rounds, on {session.device.name.strip()}:")
    print(f"  xebench           {overheads.sample_ns / 1e3:7.1f} us")
    print(f"  plain dpctl loop  {overheads.bare_ns / 1e3:7.1f} us")
    print(f"  ratio             {overheads.sample_ns / overheads.bare_ns:7.1f}")
    print(f"session.launch alone{overheads.launch_ns / 1e3:7.1f} us")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else runtime.select_device().device.device)
