"""Random kernels of constructs that `random_kernels` has not, and the same bodies for ``numba.njit``: one a seed.

Index spaces of one to three dimensions with and without groups; operators of mixed types as numba types them; complex
numbers; tuples; views and slices; closures, device functions with defaults and several returns; loops with steps,
``break``, ``continue`` and ``else``; barriers in branches and loops that all items take; atomics of both spellings.

A body is the same text for both: what differs, such as ids, barriers and memory, has a name that each defines for
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from njit_expressions import INPUTS, INTEGERS, Expressions

#: Types of results; an item has a row of so many.
RESULTS: Final = ("int64", "float64", "float32", "complex128", "int32", "uint8", "int16", "uint64")
ROW: Final = 4
#: Types of accumulators, and elements of one.
ACCUMULATORS: Final = ("int32", "int64", "uint32", "uint64", "float32", "float64")
BINS: Final = 8
OPTIONS: Final = ("", "", "", "unroll=2", "unroll=4", 'unroll="disable"', "restrict=True", "sub_group_size=SUB_GROUP")
_SLICES: Final = ("::-1", "1:-1", "2::2", "::3", "-5:", "5:1:-2", "n:", "-3::-1")


@dataclass(frozen=True)
class NjitKernel:
    """A kernel.

    Attributes:
        seed: seed that it was made of.
        functions: text of the functions that it calls.
        body: text of its body.
        inputs, results, accumulators: names of its arrays.
        exchanged: type of the local array; empty without one.
        options: text of the kernel's options.
        global_size: extents, dimension 0 first.
        local_size: extents of a group; None for a ``Range``.
    """

    seed: int
    functions: str
    body: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    accumulators: tuple[str, ...]
    exchanged: str
    options: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters after the item: results and accumulators first."""
        return (*self.results, *self.accumulators, *self.inputs, "n", "m", "step", *["tile"] * bool(self.exchanged))


class _Writer(Expressions):
    # statements

    def line(self, text: str) -> None:
        self.lines.append(self.indentation + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A block; what it declares is gone after it."""
        self.line(head)
        kept, self.indentation = (self.variables, self.private, self.tuples), self.indentation + "    "
        self.variables, self.private, self.tuples = dict(kept[0]), dict(kept[1]), dict(kept[2])
        yield
        (self.variables, self.private, self.tuples), self.indentation = kept, self.indentation[4:]

    def statements(self, count: int) -> None:
        for _ in range(count):
            forms: list[tuple[int, Callable[[], Any]]] = [
                (22, self.declare),
                (16, self.assign),
                (8, self.store),
                (5, self.declare_private),
                (5, self.put),
                (5, self.make_tuple),
                (4, self.update),
                (3, self.swap),
            ]
            if len(self.indentation) < 16:
                forms += [(10, self.branch)]
                if self.loops < 2:
                    forms += [(12, self.for_loop), (7, self.while_loop)]
                if not self.loops and not self.in_function:
                    forms += [(3, self.slice)]
            self.weighted(forms)

    def declare(self, of: str = "") -> str:
        of = of or self.one_of((*INTEGERS, "int64", "int64", "float32", "float64", "bool", "complex128", "complex64"))
        value, name = self.value(of), self.name("v")
        self.line(f"{name} = {'bool' if of == 'bool' else f'np.{of}'}({value})")
        self.variables[name] = of
        return name

    def assign(self) -> None:
        names = [name for name in self.variables if name not in self.constants]
        if not names:
            self.declare()
            return
        name = self.one_of(names)
        of = self.variables[name]
        self.line(f"{name} = {'bool' if of == 'bool' else f'np.{of}'}({self.value(of)})")

    def store(self) -> None:
        if not self.in_function:
            of = self.one_of(RESULTS)
            self.line(f"r_{of}[li, {self.index(ROW)}] = np.{of}({self.value(of)})")

    def declare_private(self) -> None:
        if not self.in_function:
            name, extent = self.name("p"), self.one_of((3, 4, 8))
            of = self.one_of(("int32", "int64", "float32", "float64", "uint8", "int16", "uint32"))
            self.line(f"{name} = kapi.PrivateArray({extent}, np.{of}, fill_zeros=True)")
            self.private[name] = of, extent

    def put(self) -> None:
        if self.private:
            name = self.one_of(sorted(self.private))
            of, extent = self.private[name]
            self.line(f"{name}[{self.index(extent)}] = np.{of}({self.value(of)})")

    def make_tuple(self) -> None:
        kinds = [self.one_of(("int32", "int64", "uint8", "int16")) for _ in range(self.random.randint(2, 3))]
        kinds = [kinds[0]] * 3 if self.chance(0.3) else kinds
        values = ", ".join(f"np.{of}({self.value(of, 2)})" for of in kinds)
        name = self.name("q")
        self.line(f"{name} = Pair({values})" if len(kinds) == 2 and self.chance(0.4) else f"{name} = ({values})")
        self.tuples[name] = kinds
        if len(set(kinds)) == 1 and len(kinds) == 3:
            taken = self.name("v")
            self.line(f"{taken} = {name}[{self.index(3)}]")
            self.variables[taken] = kinds[0]
        elif self.chance(0.4):
            names = [self.name("v") for _ in kinds]
            self.line(f"{', '.join(names)} = {name}")
            self.variables.update(zip(names, kinds, strict=True))

    def update(self) -> None:
        if self.in_function:
            return
        of = self.one_of(ACCUMULATORS)
        operations = ("add", "sub", "min", "max") + (() if of[0] == "f" else ("and", "or", "xor"))
        operation = self.accumulators.setdefault(f"c_{of}", self.one_of(operations))
        value = f"np.{of}({self.value(of, 2)})" if of[0] != "f" else f"np.{of}(cut({self.value('float64', 2)}) % 64)"
        module = self.one_of(("atomics", "references"))
        self.line(f"{module}.fetch_{operation}(c_{of}, {self.index(BINS)}, {value})")

    def swap(self) -> None:
        names = [name for name, of in self.variables.items() if of == "int64" and name not in self.constants]
        if len(names) > 1:
            one, other = self.random.sample(names, 2)
            self.line(f"{one}, {other} = {other}, np.int64({one} + {self.value('int64', 1)})")

    def slice(self) -> None:
        array = self.one_of(("a_int32", "a_float64", "a_int64", "a_uint8"))
        self.inputs.add(array)
        view, name, of = self.name("s"), self.name("v"), INPUTS[array][0]
        self.line(f"{view} = {array}[{self.one_of(_SLICES)}]")
        self.line(f"{name} = np.{of}(0)")
        self.line(f"if {view}.shape[0] > 0:")
        self.line(f"    {name} = {view}[{self.index(f'{view}.shape[0]')}]")
        self.variables[name] = of

    def branch(self) -> None:
        with self.block(f"if {self.value('bool')}:"):
            self.line("pass")
            self.statements(self.random.randint(1, 3))
        if self.chance(0.3):
            with self.block(f"elif {self.value('bool')}:"):
                self.line("pass")
                self.statements(1)
        if self.chance(0.5):
            with self.block("else:"):
                self.line("pass")
                self.statements(self.random.randint(1, 2))

    def for_loop(self) -> None:
        name = self.name("k")
        small = [f"({self.value('int64', 1)}) % 9" for _ in range(2)]
        n, m = ("n", "m") if not self.in_function else ("5", "77")
        steps = self.one_of(("-1", "-2", "-3"))
        ranges = (
            self.one_of(("4", n, f"{m} & 7")),
            f"{self.one_of((n, '6', f'{m} & 7'))}, {self.one_of(('-1', '0', '-3'))}, {steps}",
            f"{self.one_of(('-4', f'-{n}'))}, {self.one_of(('9', f'{m} & 15'))}, {self.one_of('1235')}",
            f"{small[0]}, {small[1]}, {'step' if not self.in_function else '2'}",
            f"np.int32({small[0]}), np.int32({small[1]})",
            f"np.uint8({small[0]}), np.uint8({small[1]})",
        )
        self.loop(f"for {name} in range({self.one_of(ranges)}):", name, ())

    def while_loop(self) -> None:
        name, limit = self.name("w"), self.one_of(("5", "3"))
        down = self.chance(0.4)
        self.line(f"{name} = {limit if down else 0}")
        condition = f"{name} > 0" if down else f"{name} < {limit}"
        further = f" and {self.value('bool', 2)}" if self.chance(0.3) else ""
        self.loop(f"while {condition}{further}:", "", (f"{name} {'-' if down else '+'}= 1",))

    def loop(self, head: str, counter: str, first: Sequence[str]) -> None:
        self.loops += 1
        with self.block(head):
            for text in first:
                self.line(text)
            if counter:
                number = self.name("v")
                self.line(f"{number} = np.int64({counter})")
                self.variables[number] = "int64"
                self.constants.add(number)
            self.statements(self.random.randint(1, 3))
            if self.chance(0.4):
                self.line(f"if {self.value('bool')}:")
                self.line(f"    {self.one_of(('break', 'continue'))}")
                self.statements(1)
        self.loops -= 1
        if self.chance(0.25):
            with self.block("else:"):
                self.line("pass")
                self.statements(1)

    # functions and the whole

    @contextmanager
    def function(self, head: str, variables: dict[str, str]) -> Iterator[None]:
        """A function, which sees its parameters alone."""
        kept = self.variables, self.private, self.tuples, self.integers, self.in_function
        self.variables, self.private, self.tuples, self.integers = variables, {}, {}, []
        self.constants |= set(variables)
        self.in_function = True
        with self.block(head):
            yield
        self.variables, self.private, self.tuples, self.integers, self.in_function = kept

    def returns(self) -> None:
        if self.chance(0.7):
            self.line(f"if {self.value('bool', 2)}:")
            self.line(f"    return np.int64({self.value('int64', 2)})")
        self.line(f"return np.int64({self.value('int64')})")

    def device_function(self) -> None:
        name = self.name("f")
        kinds = [self.one_of(("int64", "int32", "uint8", "float64", "int16")) for _ in range(self.random.randint(1, 3))]
        defaults = [self.one_of(("int64", "int32")) for _ in range(self.random.randint(0, 2))]
        names = [self.name("x") for _ in (*kinds, *defaults)]
        words = [*names[: len(kinds)], *(f"{word}={self.random.randint(-9, 9)}" for word in names[len(kinds) :])]
        self.line("@function")
        with self.function(f"def {name}({', '.join(words)}):", dict(zip(names, (*kinds, *defaults), strict=True))):
            self.declare("int64")
            if self.chance(0.6):
                self.for_loop()
            self.returns()
        self.line("")
        self.functions.append((name, kinds, defaults))

    def closure(self) -> None:
        name, given = self.name("f"), self.name("x")
        with self.function(f"def {name}({given}, {given}b=3):", {given: "int64"}):
            self.returns()
        self.functions.append((name, ["int64"], ["int64"]))

    def exchange(self) -> None:
        """A value of another item of the group, by local memory and barriers, where all items come."""
        name = self.name("v")
        self.line(f"{name} = np.{self.exchanged}(0)")
        by = self.one_of(("1", "3", "n", "step"))
        head = self.one_of(("", "if n > 2:", "if m < 0:", "for _ in range(2):", "for _ in range(n):"))
        inner = "    " if head else ""
        if head:
            self.line(head)
        self.line(f"{inner}{name} = exchanged(item, tile, {by})")
        self.variables[name] = self.exchanged

    def kernel(self) -> NjitKernel:
        dimensions, in_groups = self.one_of((1, 1, 1, 2, 3)), self.chance(0.4)
        local = {
            1: (self.one_of((4, 8, 16, 5)),),
            2: (self.one_of((2, 4, 3)), self.one_of((4, 2))),
            3: (2, self.one_of((2, 1, 3)), 2),
        }[dimensions]
        whole = {1: (self.one_of((16, 37, 64, 1)),), 2: (self.one_of((5, 8)), self.one_of((7, 4))), 3: (3, 4, 5)}
        size = tuple(extent * self.one_of((1, 2, 3)) for extent in local) if in_groups else whole[dimensions]
        self.indentation = ""
        for _ in range(self.random.randint(0, 2)):
            self.device_function()
        if in_groups and self.chance(0.6):
            self.exchanged = self.one_of(("int32", "int64", "float32", "uint8"))
            self.line("@function")
            with self.function("def of_item(z):", {"z": "int64"}):
                self.line(f"return np.{self.exchanged}({self.value(self.exchanged)})")
        functions, self.lines, self.indentation = "\n".join(self.lines), [], "    "
        self.integers = ["n", "m", "li", *(f"i{d}" for d in range(dimensions))]
        if self.chance(0.3):
            self.closure()
        self.statements(self.random.randint(3, 6))
        if self.exchanged:
            self.exchange()
        self.statements(self.random.randint(1, 4))
        if self.chance(0.25):
            self.line(f"if {self.value('bool')}:")
            self.line("    return")
        for _ in range(self.random.randint(1, 4)):
            self.store()
        body = "\n".join(self.lines)
        return NjitKernel(
            self.seed,
            functions,
            body,
            tuple(sorted(self.inputs)),
            tuple(f"r_{of}" for of in RESULTS if f"r_{of}[" in body),
            tuple(sorted(self.accumulators)),
            self.exchanged,
            self.one_of(OPTIONS),
            size,
            local if in_groups else None,
        )


def njit_kernel(seed: int) -> NjitKernel:
    """The kernel of a seed: the same one in every process."""
    return _Writer(seed).kernel()
