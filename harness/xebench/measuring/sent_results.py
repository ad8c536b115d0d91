"""Results between processes: a large one crosses once, later answers name it by its number.

A variant that is right writes the same bits in every check, and `HostCopies` returns one array for all of them. To send
134 MB in each check took longer than the check itself.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from xebench.measuring.place import Array, Contents

#: Number of large results of each name that both sides keep, the latest ones.
KEPT: Final = 4


class Numbered(NamedTuple):
    """A large result, with its number; without an array, the one that was sent before."""

    number: int
    array: Array | None


class SentResults:
    """The large results that this process has sent."""

    def __init__(self) -> None:
        self._sent: dict[str, dict[int, Array]] = {}
        self._count = 0

    def numbered(self, results: Contents) -> dict[str, Any]:
        """Results as they are sent: those that cannot change have a number, and are left out if they were sent."""
        return {name: array if array.flags.writeable else self._of(name, array) for name, array in results.items()}

    def _of(self, name: str, array: Array) -> Numbered:
        sent = self._sent.setdefault(name, {})
        for number, other in sent.items():
            if other is array:
                return Numbered(number, None)
        self._count += 1
        _keep(sent, self._count, array)
        return Numbered(self._count, array)


class ReceivedResults:
    """The large results that another process has sent; the same array each time."""

    def __init__(self) -> None:
        self._received: dict[str, dict[int, Array]] = {}

    def arrays(self, results: Contents) -> dict[str, Array]:
        """Results that `SentResults.numbered` made, as they were there."""
        return {name: self._of(name, one) if isinstance(one, Numbered) else one for name, one in results.items()}

    def _of(self, name: str, one: Numbered) -> Array:
        received = self._received.setdefault(name, {})
        if one.array is not None:
            one.array.setflags(write=False)
            _keep(received, one.number, one.array)
        return received[one.number]


def _keep(kept: dict[int, Array], number: int, array: Array) -> None:
    if len(kept) == KEPT:
        del kept[next(iter(kept))]
    kept[number] = array
