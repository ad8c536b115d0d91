"""Random kernels that mean the same in plain Python with numpy's scalars: the source of one, and its arguments.

Every operation is converted to the type of its operands, ``np.int8(a + b)``, so that numba's wider arithmetic and
numpy's narrower one agree on every bit. Integers wrap around, also those that lead to elements, and arrays have views
in the same memory. What has no meaning in numba is not written: shifts by the width or more, conversions of floats that
do not fit. Functions that OpenCL rounds to some ulp are the last operation before a result is stored, so that an error
does not grow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from numba_sycl import device_func
from numba_sycl.stacks import is_current

#: Work-items of a launch, of a group, and elements of a work-item's own row.
ITEMS, GROUP, ROW = 32, 8, 4

SIGNED: Final = ("int8", "int16", "int32", "int64")
UNSIGNED: Final = ("uint8", "uint16", "uint32", "uint64")
INTEGERS: Final = (*SIGNED, *UNSIGNED)
FLOATS: Final = ("float32", "float64")
TYPES: Final = (*INTEGERS, *FLOATS)

#: The error that OpenCL allows, in ulp, of functions of one argument (OpenCL C 3.0, table of relative errors).
ROUNDED: Final = {
    "exp": 3,
    "exp2": 3,
    "expm1": 3,
    "log": 3,
    "log2": 3,
    "log10": 3,
    "log1p": 2,
    "sqrt": 3,
    "sin": 4,
    "cos": 4,
    "tan": 5,
    "asin": 4,
    "acos": 4,
    "atan": 5,
    "sinh": 4,
    "cosh": 4,
    "tanh": 5,
    "asinh": 4,
    "acosh": 4,
    "atanh": 5,
}
ROUNDED_OF_TWO: Final = {"atan2": 6, "pow": 16, "hypot": 4}
#: Factors of which a few make a product wrap around.
FACTORS: Final = (6364136223846793005, 0x1E3779B97F4A7C15, -(1 << 62), (1 << 63) - 1, 33, 3037000500)
#: Numbers at which widths and signs end, for scalar arguments.
CORNERS: Final = (0, 1, -1, 2, 7, -8, 1 << 24, 1 << 30, -(1 << 30), 1 << 31, (1 << 32) + 1, 1 << 62)
CORNERS_OF_64_BITS: Final = ((1 << 63) - 1, -(1 << 63), 1 - (1 << 63))
OPTIONS: Final = ("", "", "", "unroll=4", 'unroll="full"', 'unroll="disable"', "restrict=True", "sub_group_size=16")
ATOMICS: Final = ("fetch_add", "fetch_sub", "fetch_min", "fetch_max", "fetch_and", "fetch_or", "fetch_xor")

HEAD: Final = """\
import math
import numpy as np
from random_kernels import clamped
from numba_sycl import device_func, kernel
from numba_sycl import kernel_api as kapi
"""


@device_func
def clamped(x: Any, low: Any, high: Any) -> Any:
    """A number that fits an integer type; what is no number is the lowest. Compiled once for each type."""
    if x > low:
        if x < high:
            return x
        return high
    return low


@dataclass
class RandomKernel:
    """A kernel.

    Attributes:
        source: of a module with the kernel ``run`` in it.
        dtypes: of its array arguments, by name; those of results begin with ``r``, all but inputs are zero at first.
        ulp: the error that each array may have.
        seed: of the numbers in the inputs.
        views: by name, the array of which one is a view, and its kind, of `VIEWS_OF_ROWS`.
        scalars: numbers by name.
    """

    source: str
    dtypes: dict[str, str]
    ulp: dict[str, int]
    seed: int
    views: dict[str, tuple[str, str]]
    scalars: dict[str, Any]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its arguments: inputs of one dimension, the accumulators ``c``, rows ``r``."""
        rng = np.random.default_rng(self.seed)
        return {
            name: _numbers(rng, dtype) if name[0] == "a" else _zeros(name, dtype) for name, dtype in self.dtypes.items()
        }


def _zeros(name: str, dtype: str) -> NDArray[Any]:
    return np.zeros((ITEMS, ROW) if name[0] == "r" else ROW, dtype)


def _numbers(rng: np.random.Generator, dtype: str) -> NDArray[Any]:
    """Numbers of all sizes, and those at which operations change their ways."""
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        wide = rng.integers(limits.min, limits.max, ITEMS, dtype=np.dtype(dtype), endpoint=True)
        small = rng.integers(0 if limits.min == 0 else -9, 9, ITEMS).astype(dtype)
        special = np.array([0, 1, limits.max, limits.min, limits.max - 1, limits.min + 1], dtype)
    else:
        finite = np.finfo(dtype)
        wide = (rng.standard_normal(ITEMS) * 10.0 ** rng.integers(-6, 7, ITEMS)).astype(dtype)
        small = (rng.integers(-40, 40, ITEMS) / 4).astype(dtype)
        special = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, finite.max, finite.tiny], dtype)
    picked = np.where(rng.random(ITEMS) < 0.5, wide, small)
    return np.where(rng.random(ITEMS) < 0.15, rng.choice(special, ITEMS), picked)


#: Views of results, of which a work-item uses its own row, too (`kernel_case`).
VIEWS_OF_ROWS: Final = ("same", "reversed", "shifted", "every other")


@dataclass
class _Writer:
    """Writes one kernel, choosing by ``draw``."""

    draw: Callable[[Any], Any]
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    #: Names of values of each type that are in scope, of loops' numbers, of private arrays.
    values: list[tuple[str, str]] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)
    private: list[tuple[str, str]] = field(default_factory=list)
    #: Those that may be assigned to here.
    functions: list[tuple[str, tuple[str, ...], str]] = field(default_factory=list)
    dtypes: dict[str, str] = field(default_factory=dict)
    ulp: dict[str, int] = field(default_factory=dict)
    atomics: dict[str, str] = field(default_factory=dict)
    views: dict[str, tuple[str, str]] = field(default_factory=dict)
    scalars: dict[str, Any] = field(default_factory=dict)
    names: int = 0
    in_loop: bool = False

    def below(self, number: int) -> int:
        """A number from 0."""
        return int(self.draw(st.integers(0, number - 1)))

    def one_of(self, choices: Sequence[Any]) -> Any:
        return choices[self.below(len(choices))]

    def name(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, head: str, *, loop: bool = False) -> Iterator[None]:
        """Statements one level further in; what they declare is gone after."""
        self.line(head)
        kept = len(self.values), len(self.counters), len(self.private), self.in_loop
        self.depth += 1
        self.in_loop = self.in_loop or loop
        yield
        self.depth -= 1
        del self.values[kept[0] :], self.counters[kept[1] :], self.private[kept[2] :]
        self.in_loop = kept[3]

    # expressions: each gives text of exactly the type that is asked for

    def value(self, of: str, depth: int) -> str:
        if depth <= 0 or self.below(4) == 0:
            return self.leaf(of)
        if of == "bool":
            return self.condition(depth)
        common = [self.conversion, self.chosen, self.least]
        further = [self.of_integers] * 6 if of in INTEGERS else [self.of_floats] * 6
        if any(returns == of for _, _, returns in self.functions):
            further += [self.call] * 2
        return str(self.one_of([*common, *further])(of, depth - 1))

    def leaf(self, of: str) -> str:
        if of == "bool":
            return f"({self.leaf('int32')} > {self.leaf('int32')})"
        choices = [name for name, dtype in self.values if dtype == of]
        choices += [f"{name}[{self.position(ROW)}]" for name, dtype in self.private if dtype == of]
        choices += [f"np.{of}({name})" for name in self.counters]
        choices += [name for name, value in self.scalars.items() if value.dtype == of]
        choices += [f"{name}[i, {self.below(2)}]" for name, (array, _) in self.views.items() if self.of(array) == of]
        choices += [
            f"{name}[{self.position(ITEMS)}]" for name, dtype in self.dtypes.items() if dtype == of and name[0] == "a"
        ]
        if choices and self.below(5):
            return str(self.one_of(choices))
        inputs = {dtype for name, dtype in self.dtypes.items() if name[0] == "a"} | {dtype for _, dtype in self.values}
        if not choices and inputs and self.below(3):
            return self.converted(of, self.one_of(sorted(inputs)), 0)
        return self.constant(of)

    def constant(self, of: str) -> str:
        if of in FLOATS:
            return f"np.{of}({self.one_of(('0.0', '1.0', '-1.0', '0.5', '3.0', '-2.25', '1e-3', '1e10'))})"
        limits = np.iinfo(of)
        number = self.one_of((0, 1, 2, 3, 7, 10, 100, limits.max, limits.min, limits.max // 3))
        return f"np.{of}({-number if of in SIGNED and number > 0 and self.below(3) == 0 else number})"

    def position(self, count: int) -> str:
        """An index below a power of two."""
        inner = [name for name, dtype in self.values if dtype in INTEGERS]
        form = self.below(8)
        if form >= 5:
            return self.hashed(count)
        if form == 1 and self.counters:
            return f"(i + {self.one_of(self.counters)}) % {count}"
        if form == 2 and inner:
            name, dtype = self.one_of([pair for pair in self.values if pair[1] in INTEGERS])
            return f"np.int64({name} & np.{dtype}({count - 1}))"
        return f"(i + {self.below(count)}) % {count}"

    def hashed(self, count: int) -> str:
        """An index that wraps around, from either end."""
        terms = ["i", "n", *self.counters]
        terms += [f"np.int64({name})" for name, dtype in self.values if dtype in INTEGERS]
        terms += [name for name, value in self.scalars.items() if value.dtype == "int64"]
        text = f"{self.one_of(terms)} * {self.one_of(FACTORS)}"
        for _ in range(self.below(3)):
            text = f"({text} {self.one_of(('+', '-', '*', '^'))} {self.one_of(terms)})"
        return str(self.one_of((f"({text}) % {count}", f"({text}) % {count} - {count}", f"({text} & {count - 1})")))

    def of(self, array: str) -> str:
        return self.dtypes.get(array, "")

    def conversion(self, of: str, depth: int) -> str:
        return self.converted(of, self.one_of((*TYPES, "bool")), depth)

    def converted(self, of: str, source: str, depth: int) -> str:
        value = self.value(source, depth)
        if source in FLOATS and of in INTEGERS:
            limits = np.iinfo(of)
            high = min(int(limits.max) // 2 + 1, 1 << 62)
            low = 0 if of in UNSIGNED else -high
            value = f"clamped({value}, np.{source}({low}), np.{source}({high}))"
        return f"np.{of}({value})"

    def chosen(self, of: str, depth: int) -> str:
        return f"({self.value(of, depth)} if {self.value('bool', depth)} else {self.value(of, depth)})"

    def least(self, of: str, depth: int) -> str:
        function = self.one_of(("min", "max"))
        return f"np.{of}({function}({self.value(of, depth)}, {self.value(of, depth)}))"

    def call(self, of: str, depth: int) -> str:
        name, takes, _ = self.one_of([function for function in self.functions if function[2] == of])
        return f"{name}({', '.join(self.value(dtype, depth - 1) for dtype in takes)})"

    def condition(self, depth: int) -> str:
        form = self.below(8)
        if form == 0:
            return f"(not {self.value('bool', depth - 1)})"
        if form <= 2:
            return f"({self.value('bool', depth - 1)} {self.one_of(('and', 'or'))} {self.value('bool', depth - 1)})"
        if form == 3:
            number = f"({self.leaf('int64')} & np.int64(15))"
            return f"({' or '.join(f'{number} == {self.below(16)}' for _ in range(2 + self.below(4)))})"
        of, operator = self.one_of(TYPES), self.one_of(("<", "<=", ">", ">=", "==", "!="))
        other = self.one_of(INTEGERS) if form == 4 and of in INTEGERS else of
        return f"({self.value(of, depth - 1)} {operator} {self.value(other, depth - 1)})"

    def of_integers(self, of: str, depth: int) -> str:
        x, form = self.value(of, depth), self.below(10)
        if form == 9 and is_current():  # numba-dpex computes powers by floats
            return f"np.{of}({x} ** {2 + self.below(3)})"
        if form == 0:
            return f"np.{of}({self.one_of(('-', '~') if of in SIGNED else ('~',))}{x})"
        if form == 1 and of in SIGNED:
            return f"np.{of}(abs({x}))"
        y = self.value(of, depth)
        if form == 2:
            bits = np.iinfo(of).bits
            return f"np.{of}({x} {self.one_of(('<<', '>>'))} ({y} & np.{of}({bits - 1})))"
        if form == 3:
            return f"np.{of}({x} {self.one_of(('//', '%'))} {y})"
        other = of
        if form == 4:
            # of two types: the narrower is widened, but for pairs that would become floats
            mixed = [one for one in INTEGERS if one != "uint64"] if of in SIGNED else UNSIGNED
            other = self.one_of(mixed)
            y = self.value(other, depth)
        operator = self.one_of(("+", "-", "*", "&", "|", "^"))
        return f"np.{of}({x} {operator} {y})"

    def of_floats(self, of: str, depth: int) -> str:
        x, form = self.value(of, depth), self.below(8)
        if form == 0:
            return f"np.{of}({self.one_of(('-', 'abs', 'np.floor', 'np.ceil', 'np.trunc', 'np.fabs', 'np.rint'))}({x}))"
        if form == 1:
            return f"np.{of}({x} ** 2)"
        y = self.value(of, depth)
        return f"np.{of}({x} {self.one_of(('+', '-', '*', '/', '+', '-', '*'))} {y})"

    # statements

    def statements(self, count: int, nesting: int) -> None:
        for _ in range(count):
            forms = [self.declare, self.declare, self.assign, self.assign, self.store, self.put, self.update]
            if self.views:
                forms += [self.through_view]
            if nesting:
                forms += [self.branch, self.branch, self.chain, self.loop, self.while_loop]
            if self.in_loop:
                forms += [self.leave]
            self.one_of(forms)(nesting)

    def declare(self, _: int) -> None:
        of, name = self.one_of(TYPES), self.name("v")
        self.line(f"{name} = {self.value(of, 2)}")
        self.values.append((name, of))

    def assign(self, nesting: int) -> None:
        if not self.values:
            return self.declare(nesting)
        name, of = self.one_of(self.values)
        return self.line(f"{name} = {self.value(of, 2)}")

    def store(self, nesting: int) -> None:
        results = [name for name in self.dtypes if name[0] == "r" and not self.ulp[name]]
        name = self.one_of(results)
        of, at = self.dtypes[name], f"{name}[i, {self.below(ROW)}]"
        value = self.value(of, 2)
        self.line(f"{at} = " + (f"np.{of}({at} + {value})" if self.below(2) else value))

    def through_view(self, nesting: int) -> None:
        name = self.one_of(list(self.views))
        self.line(f"{name}[i, {self.below(2)}] = {self.value(self.of(self.views[name][0]), 2)}")

    def put(self, nesting: int) -> None:
        if not self.private:
            return self.assign(nesting)
        name, of = self.one_of(self.private)
        return self.line(f"{name}[{self.position(ROW)}] = {self.value(of, 2)}")

    def update(self, nesting: int) -> None:
        """An atomic one: of one kind for each array, whose order makes no difference."""
        if not self.atomics:
            return self.assign(nesting)
        name = self.one_of(list(self.atomics))
        of, function = self.dtypes[name], self.atomics[name]
        value = self.value(of, 2)
        if of in FLOATS:  # sums of these are exact
            value = f"np.{of}({self.value('int32', 2)} & np.int32(15))"
        return self.line(f"kapi.AtomicRef({name}, {self.position(ROW)}).{function}({value})")

    def branch(self, nesting: int) -> None:
        with self.block(f"if {self.value('bool', 2)}:"):
            self.statements(1 + self.below(2), nesting - 1)
        if self.below(3) == 0:
            with self.block(f"elif {self.value('bool', 2)}:"):
                self.statements(1, nesting - 1)
        if self.below(2):
            with self.block("else:"):
                self.statements(1 + self.below(2), nesting - 1)

    def chain(self, _: int) -> None:
        """Branches by one number to constants, of which LLVM makes a table."""
        of, name, number = self.one_of(TYPES), self.name("v"), self.name("s")
        self.line(f"{number} = {self.position(8)}")
        self.line(f"{name} = {self.constant(of)}")
        for case in range(3 + self.below(5)):
            self.line(f"{'elif' if case else 'if'} {number} == {case}:")
            self.line(f"    {name} = {self.constant(of)}")
        self.values.append((name, of))

    def loop(self, nesting: int) -> None:
        name = self.name("k")
        bound = self.one_of(("3", "5", "n", "1, n", "6, 0, -2", "0, 9, 4", "i % 4"))
        with self.block(f"for {name} in range({bound}):", loop=True):
            self.counters.append(name)
            self.statements(1 + self.below(2), nesting - 1)

    def while_loop(self, nesting: int) -> None:
        name = self.name("w")
        self.line(f"{name} = np.int64(0)")
        with self.block(f"while {name} < {1 + self.below(5)} and {self.value('bool', 2)}:", loop=True):
            self.line(f"{name} = np.int64({name} + np.int64(1))")
            self.statements(1 + self.below(2), nesting - 1)

    def leave(self, _: int) -> None:
        with self.block(f"if {self.value('bool', 2)}:"):
            self.line(self.one_of(("break", "continue")))

    def exchange(self) -> None:
        """Through local memory, with barriers."""
        of, name = self.one_of(TYPES), self.name("v")
        tile = f"t_{of}"
        self.line(f"{tile}[j] = {self.value(of, 2)}")
        self.line("kapi.group_barrier(group)")
        self.line(f"{name} = {tile}[(j + {self.below(GROUP)}) % {GROUP}]")
        self.line("kapi.group_barrier(group)")
        self.values.append((name, of))

    def function(self) -> None:
        """One that the kernel calls."""
        name = self.name("f")
        takes, returns = tuple(self.one_of(TYPES) for _ in range(1 + self.below(2))), self.one_of(TYPES)
        self.lines += ["", "", "@device_func", f"def {name}({', '.join(f'x{n}' for n in range(len(takes)))}):"]
        self.values = [(f"x{n}", of) for n, of in enumerate(takes)]
        arrays, self.dtypes = self.dtypes, {}
        views, scalars = self.views, self.scalars
        self.views, self.scalars = {}, {}
        if self.below(2):
            with self.block(f"if {self.value('bool', 2)}:"):
                self.line(f"return {self.value(returns, 2)}")
        self.line(f"return {self.value(returns, 2)}")
        self.dtypes, self.values = arrays, []
        self.views, self.scalars = views, scalars
        self.functions.append((name, takes, returns))

    def rounded(self) -> None:
        """A function that OpenCL rounds to some ulp, into an array of its own."""
        of = self.one_of(FLOATS)
        name = f"r{len(self.dtypes)}"
        two = self.below(4) == 0
        function = self.one_of(list(ROUNDED_OF_TWO if two else ROUNDED))
        self.dtypes[name], self.ulp[name] = of, (ROUNDED_OF_TWO if two else ROUNDED)[function]
        given = ", ".join(self.value(of, 2) for _ in range(1 + two))
        self.line(f"{name}[i, 0] = np.{of}(math.{function}({given}))")

    def scalars_and_views(self) -> None:
        for number in range(self.below(3)):
            of = self.one_of(("int64", "int64", "int32", "uint32", "uint64"))
            numbers = CORNERS + CORNERS_OF_64_BITS * (of == "int64")
            self.scalars[f"s{number}"] = np.array(self.one_of(numbers)).astype(of)[()]
        for number in range(self.below(2)):
            results = [name for name in self.dtypes if name[0] == "r"]
            self.views[f"m{number}"] = self.one_of(results), self.one_of(VIEWS_OF_ROWS)

    def kernel(self) -> RandomKernel:
        for number in range(2 + self.below(3)):
            self.dtypes[f"a{number}"] = self.one_of(TYPES)
        for _ in range(1 + self.below(2)):
            name = f"r{len(self.dtypes)}"
            self.dtypes[name], self.ulp[name] = self.one_of(TYPES), 0
        for number in range(self.below(3)):
            of = self.one_of(("int32", "int64", *FLOATS))
            self.dtypes[f"c{number}"] = of
            self.atomics[f"c{number}"] = self.one_of(ATOMICS if of in INTEGERS else ATOMICS[:2])
        self.scalars_and_views()
        for _ in range(self.below(2)):
            self.function()
        options = [option for option in OPTIONS if not (self.views and "restrict" in option)]
        self.lines += ["", "", f"@kernel({self.one_of(options)})", ""]
        head = len(self.lines) - 1
        self.line("i, j = item.get_global_id(0), item.get_local_id(0)")
        self.line("group = item.get_group()")
        for _ in range(self.below(2)):
            of, name = self.one_of(TYPES), self.name("p")
            self.line(f"{name} = kapi.PrivateArray({ROW}, np.{of}, fill_zeros=True)")
            self.private.append((name, of))
        for _ in range(1 + self.below(2)):
            self.statements(1 + self.below(3), 2)
            if self.below(3) == 0:
                self.exchange()
        if self.below(8) == 0:
            with self.block(f"if {self.value('bool', 2)}:"):
                self.line("return")
        if self.below(2):
            self.rounded()
        for name, of in self.values:
            result = next(
                (r for r, dtype in self.dtypes.items() if dtype == of and r[0] == "r" and not self.ulp[r]), None
            )
            if result:
                self.line(f"{result}[i, {self.below(ROW)}] = {name}")
        tiles = sorted({word for text in self.lines for word in TILES if f"{word}[" in text})
        self.lines[head] = (
            f"def run(item: kapi.NdItem, {', '.join([*self.dtypes, *self.views, *self.scalars, 'n', *tiles])}):"
        )
        source = HEAD + "\n".join(self.lines) + "\n"
        return RandomKernel(source, dict(self.dtypes), dict(self.ulp), self.below(1 << 16), self.views, self.scalars)


TILES: Final = {f"t_{of}": of for of in TYPES}


@st.composite
def random_kernels(draw: Callable[[Any], Any]) -> RandomKernel:
    """Kernels, the simplest first."""
    return _Writer(draw).kernel()
