"""Identities of kernels in pattern files."""

from pathlib import Path

from numba_sycl.identity import digest
from xebench.patterns.pattern_file import load_file

#: A pattern file whose kernel refers to a module beside it.
OF_A_NEIGHBOUR = """
from xebench import Pattern, Problem, kernel, output
from numba_sycl import kernel_api as kapi
from . import sizes

pattern = Pattern("mine", guide="none", lesson="Any.", presets={"smoke": {"n": 8}, "default": {"n": 8}})

@kernel
def widths(item: kapi.Item, y):
    y[item.get_id(0)] = sizes.WIDTH

@pattern.problem
def problem(rng, n):
    return Problem(y=output(n, "int32"))

@pattern.reference
def expected(p):
    return {"y": [8] * p.n}

@pattern.naive
def write(session, p):
    session.launch(widths, kapi.Range(p.n), p.y)

@pattern.optimized
def again(session, p):
    session.launch(widths, kapi.Range(p.n), p.y)
"""


def test_where_a_pattern_file_lies_does_not_count(tmp_path: Path) -> None:
    digests = set()
    for place in ("here", "there"):
        folder = tmp_path / place / "chapter"
        folder.mkdir(parents=True)
        (folder / "sizes.py").write_text("WIDTH = 8\n")
        (folder / "mine.py").write_text(OF_A_NEIGHBOUR)
        (pattern,) = load_file(folder / "mine.py")
        digests.add(digest(pattern.variants["write"].function.__globals__["widths"]))
    assert len(digests) == 1
