"""Random expressions that mean the same in a kernel and for ``numba.njit`` (`njit_kernels`).

What has no meaning is not written: indices outside, divisions by zero, floats that fit no integer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

SIGNED: Final = ("int8", "int16", "int32", "int64")
UNSIGNED: Final = ("uint8", "uint16", "uint32", "uint64")
INTEGERS: Final = (*SIGNED, *UNSIGNED)
#: Input arrays by name: their type and number of dimensions.
INPUTS: Final = {
    **{f"a_{of}": (of, 1) for of in (*INTEGERS, "float32", "float64", "complex64", "complex128", "bool")},
    **{f"m_{of}": (of, 2) for of in ("int32", "int64", "float32")},
    **{f"t_{of}": (of, 3) for of in ("int16", "float64")},
}
_CORNERS: Final = (
    *(0, 1, 2, 3, 5, 7, 10, 100, -1, -2, -3, -7, -100),
    *(1 << 31, (1 << 31) - 1, -(1 << 31), 1 << 32, 0x5BD1E995),
)
_REALS: Final = ("0.0", "1.0", "0.5", "-2.0", "3.25", "-0.75", "16.0")


class Expressions:
    """Writes expressions, choosing by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.lines: list[str] = []
        self.indentation = "    "
        self.count = 0
        self.variables: dict[str, str] = {}
        self.constants: set[str] = set()  # variables that are not assigned to
        self.private: dict[str, tuple[str, int]] = {}
        self.tuples: dict[str, list[str]] = {}
        self.functions: list[tuple[str, list[str], list[str]]] = []  # name, types of arguments, of those with defaults
        self.integers: list[str] = []  # int64 that an expression may name
        self.in_function = False
        self.loops = 0
        self.inputs: set[str] = set()
        self.accumulators: dict[str, str] = {}  # each with its one operation, so that the order does not matter
        self.exchanged = ""

    # choices

    def one_of(self, several: Sequence[Any]) -> Any:
        return self.random.choice(several)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def weighted(self, forms: Sequence[tuple[int, Callable[[], Any]]]) -> Any:
        return self.random.choices([form for _, form in forms], [weight for weight, _ in forms])[0]()

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # expressions

    def value(self, of: str, depth: int = 3) -> str:
        """An expression of a type, or of the wider one that numba gives it."""
        if depth <= 0 or self.chance(0.2):
            return self.leaf(of)
        if not self.in_function and self.chance(0.1):
            return self.element(of)
        kind = np.dtype(of).kind
        form = {"b": self.truth, "c": self.complex_number, "f": self.real}.get(kind, self.integer)
        return str(form(of, depth - 1))

    def leaf(self, of: str) -> str:
        known = [name for name, kind in self.variables.items() if kind == of]
        if known and self.chance(0.75):
            return str(self.one_of(known))
        if of == "int64" and self.integers and self.chance(0.6):
            return str(self.one_of(self.integers))
        return self.literal(of)

    def literal(self, of: str) -> str:
        if of == "bool":
            return str(self.one_of(("True", "False")))
        kind = np.dtype(of).kind
        if kind == "c":
            return f"np.{of}({self.one_of(('1+2j', '0.5-1j', '-2+0j', '3j'))})"
        if kind == "f":
            return f"np.{of}({self.one_of(_REALS)})"
        limits = np.iinfo(of)
        number = int(self.one_of((*_CORNERS, int(limits.max), int(limits.min))))
        wrapped = (number - int(limits.min)) % (1 << limits.bits) + int(limits.min)
        return f"np.{of}({wrapped})" if wrapped != -(1 << 63) else "np.int64(-9223372036854775807 - 1)"

    def element(self, of: str) -> str:
        names = [name for name, (kind, _) in INPUTS.items() if kind == of]
        if not names:
            return self.literal(of)
        name = self.one_of(names)
        self.inputs.add(name)
        return f"{name}[{', '.join(self.index(f'{name}.shape[{d}]') for d in range(INPUTS[name][1]))}]"

    def index(self, extent: str | int) -> str:
        """An index within an extent, also one that counts from the end."""
        e = self.value("int64", 2)
        kinds = ("int32", "uint32", "int64", "uint64", "uint8", "int16")
        return str(
            self.weighted(
                (
                    (12, lambda: f"(-1 - ({e}) % {extent})"),
                    (13, lambda: f"np.{self.one_of(kinds)}(({e}) % min({extent}, 100))"),
                    (10, lambda: f"min(max({e}, 0), {extent} - 1)"),
                    (7, lambda: f"abs(({e}) % {extent})"),
                    (8, lambda: f"(({e}) & 1023) % {extent}"),
                    (5, lambda: f"({extent} - 1 - ({e}) % {extent})"),
                    (45, lambda: f"({e}) % {extent}"),
                )
            )
        )

    def truth(self, _: str, d: int) -> str:
        comparisons = ("<", "<=", ">", ">=", "==", "!=")

        def compared() -> str:
            of = self.one_of(("int64", "int32", "uint64", "float64", "float32", "uint8"))
            return f"({self.value(of, d)} {self.one_of(comparisons)} {self.value(of, d)})"

        def chained() -> str:
            parts = [self.value("int64", d) for _ in range(3)]
            return f"({parts[0]} {self.one_of(('<', '<='))} {parts[1]} {self.one_of(('<', '!='))} {parts[2]})"

        def joined() -> str:
            return f"({self.value('bool', d)} {self.one_of(('and', 'or', '^', '&', '|'))} {self.value('bool', d)})"

        return str(
            self.weighted(
                (
                    (50, compared),
                    (10, chained),
                    (22, joined),
                    (10, lambda: f"(not {self.value('bool', d)})"),
                    (8, lambda: f"bool({self.value('int64', d)} & 3)"),
                )
            )
        )

    def conditional(self, of: str, d: int) -> str:
        cast = "bool" if of == "bool" else f"np.{of}"
        return f"({cast}({self.value(of, d)}) if {self.value('bool', d)} else {cast}({self.value(of, d)}))"

    def complex_number(self, of: str, d: int) -> str:
        part = "float32" if of == "complex64" else "float64"
        return str(
            self.weighted(
                (
                    (50, lambda: f"({self.value(of, d)} {self.one_of('+-*')} {self.value(of, d)})"),
                    (20, lambda: f"np.{of}(complex({self.value(part, d)}, {self.value(part, d)}))"),
                    (10, lambda: f"np.conj({self.value(of, d)})"),
                    (20, lambda: self.conditional(of, d)),
                )
            )
        )

    def real(self, of: str, d: int) -> str:
        other = "float32" if of == "float64" else "float64"
        whole = (*INTEGERS, "bool")
        return str(
            self.weighted(
                (
                    (40, lambda: f"({self.value(of, d)} {self.one_of('+-*')} {self.value(of, d)})"),
                    (10, lambda: f"{self.one_of(('min', 'max'))}({self.value(of, d)}, {self.value(of, d)})"),
                    (10, lambda: f"abs({self.value(of, d)})"),
                    (10, lambda: self.conditional(of, d)),
                    (10, lambda: f"np.{of}({self.value(self.one_of(whole), d)})"),
                    (6, lambda: f"np.{self.one_of(('floor', 'ceil', 'trunc'))}({self.value(of, d)})"),
                    (4, lambda: f"np.{of}(({self.value('complex128', d)}).{self.one_of(('real', 'imag'))})"),
                    (5, lambda: f"np.{of}({self.value(other, d)})"),
                    (5, lambda: f"(-{self.value(of, d)})"),
                )
            )
        )

    def integer(self, of: str, d: int) -> str:
        unsigned = of in UNSIGNED
        forms = [
            (26, lambda: f"{self.operand(of, d)} {self.one_of('+-*')} {self.operand(of, d)}"),
            (10, lambda: f"{self.value(of, d)} {self.one_of(('//', '%'))} {self.divisor(of, d)}"),
            (10, lambda: f"{self.operand(of, d)} {self.one_of('&|^')} {self.operand(of, d)}"),
            (9, lambda: self.shifted(of, d)),
            (7, lambda: f"{self.one_of(('min', 'max'))}({self.operand(of, d)}, {self.operand(of, d)})"),
            (4, lambda: self.value(of, d) if unsigned else f"abs({self.value(of, d)})"),
            (6, lambda: self.conditional(of, d)),
            (8, lambda: self.value(self.one_of(INTEGERS), d)),
            (4, lambda: f"abs(cut({self.value(self.one_of(('float64', 'float32')), d)}))"),
            (3, lambda: f"np.uint8({self.value('bool', d)})"),
            (3, lambda: f"{'~' if unsigned else self.one_of('~-')}{self.value(of, d)}"),
        ]
        if not self.in_function:
            if self.private:
                forms.append((4, self.private_element))
            if self.tuples:
                forms.append((4, self.tuple_item))
            if self.functions:
                forms.append((6, lambda: self.call(d)))
        return f"np.{of}({self.weighted(forms)})"

    def operand(self, of: str, d: int) -> str:
        """An integer that makes no float together with the type."""
        if of == "uint64" or self.chance(0.7):
            return self.value(of, d)
        return self.value(self.one_of(UNSIGNED if of in UNSIGNED else (*SIGNED, *UNSIGNED[:3])), d)

    def divisor(self, of: str, d: int) -> str:
        """An integer that is neither 0 nor -1."""
        number = self.one_of((1, 2, 3, 4, 5, 7, 8, 10, 16, 100, 127))
        if self.chance(0.55):
            return f"np.{of}({number if of in UNSIGNED or self.chance(0.6) else -max(number, 2)})"
        if of in UNSIGNED:
            return f"({self.value(of, d)} | np.{of}(1))"
        low = f"(({self.value(of, d)}) & 15)"
        return f"({low} + 1)" if self.chance(0.5) else f"(-2 - {low})"

    def shifted(self, of: str, d: int) -> str:
        by = f"(({self.value('int64', d - 1)}) & {self.one_of((3, 7, 31, 63))})"
        by = f"np.uint64({by})" if of in UNSIGNED else by
        return f"{self.value(of, d)} {self.one_of(('<<', '>>'))} {by}"

    def private_element(self) -> str:
        name = self.one_of(sorted(self.private))
        of, extent = self.private[name]
        element = f"{name}[{self.index(extent)}]"
        return f"cut({element})" if np.dtype(of).kind == "f" else element

    def tuple_item(self) -> str:
        name = self.one_of(sorted(self.tuples))
        return f"{name}[{self.random.randrange(len(self.tuples[name]))}]"

    def call(self, d: int) -> str:
        name, arguments, defaults = self.one_of(self.functions)
        given = [*arguments, *defaults[: self.random.randint(0, len(defaults))]]
        return f"{name}({', '.join(f'np.{of}({self.value(of, d - 1)})' for of in given)})"
