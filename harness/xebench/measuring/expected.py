"""What variants must write, as the reference says; of ranks, what each of them must."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xebench.measuring.accuracy import exact_parts
from xebench.measuring.bound_problem import Binding
from xebench.measuring.comparison import check_reference
from xebench.measuring.prepare import make_reference
from xebench.patterns.pattern import Pattern

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Expected:
    """What a variant must write.

    Attributes:
        arrays: by name; of ranks, those of all of them, with the rank as the first index.
        exact: the same in higher precision, where the reference has it.
        ranks: how many; 0 where the variant runs in one process.
    """

    arrays: Mapping[str, Array]
    exact: Mapping[str, Array]
    ranks: int = 0


def expected_of(pattern: Pattern, view: Any, binding: Binding, ranks: int) -> Expected:
    """What a variant that runs in so many ranks must write.

    Args:
        pattern: with the reference.
        view: the problem as the reference sees it.
        binding: says which arrays are written.
        ranks: 0 for none.

    Raises:
        UnusableReference: the reference cannot serve.
    """
    rules = pattern.rtol, pattern.atol
    references = [make_reference(pattern, view, rank, max(1, ranks)) for rank in range(max(1, ranks))]
    whole, declared = references[0], binding.declared
    if ranks:
        for own in references:
            check_reference(own, declared, {}, *rules)
        whole = {name: np.stack([np.asarray(own[name]) for own in references]) for name in declared}
        declared = {name: (whole[name].shape, dtype) for name, (_, dtype) in declared.items()}
    arrays = check_reference(whole, declared, binding.untouched, *rules)
    return Expected(arrays, exact_parts(whole, arrays), ranks)
