"""A pattern's own rules for results that are right in any order, or of which several are valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from xebench.errors import describe_error
from xebench.measuring.array_check import UnusableReference
from xebench.measuring.place import Array, Contents
from xebench.patterns.pattern import Pattern


@dataclass(frozen=True)
class ResultRules:
    """The functions of ``@pattern.canonical`` and ``@pattern.check`` for one problem.

    Attributes:
        form: makes equal what is equally right; None to compare results as they are.
        validate: returns a sentence about results that are wrong; None to compare them with the reference.
        view: the problem on the host.
    """

    form: Callable[[Contents], Mapping[str, Any]] | None
    validate: Callable[[Any, Contents], str | None] | None
    view: Any

    @classmethod
    def of(cls, pattern: Pattern, view: Any) -> ResultRules | None:
        """The rules of a pattern for a problem; None if it declares none."""
        if pattern.canonical_form is None and pattern.validate is None:
            return None
        return cls(pattern.canonical_form, pattern.validate, view)

    def canonical(self, results: Contents) -> Contents:
        """Results in the form in which they are compared."""
        if self.form is None:
            return results
        formed = self.form({name: array.copy() for name, array in results.items()})
        return {name: np.asarray(array) for name, array in formed.items()}

    def fault(self, results: Contents) -> str | None:
        """The sentence about results that are wrong; None if they are valid, or compared with the reference."""
        if self.validate is None:
            return None
        try:
            return self.validate(self.view, results) or None
        except Exception as error:  # wrong results may lead it out of its own arrays
            return f"@pattern.check fails on it: {describe_error(error)}"

    def examine(self, reference: Contents, garbage: Contents) -> None:
        """See that the rules can tell right from wrong.

        Raises:
            UnusableReference: they refuse the reference, or accept what nothing has written.
        """
        if self.validate is None:
            return
        if fault := self.fault(reference):
            raise UnusableReference(f"@pattern.check refuses the reference: {fault}")
        contents: dict[str, Array] = {**reference, **garbage}
        if self.fault(contents) is None:
            raise UnusableReference("@pattern.check accepts outputs that nothing wrote: make it check all of them")
