"""Names of kernels and launches without numba-dpex: as numba-dpex's own, as far as a launch looks at them."""

from typing import Any

import numba_dpex.kernel_api as theirs
import numpy as np
import pytest

from numba_sycl import IndexSpaceError, NotSimulated, kernel_api, kernel_names
from numba_sycl.errors import ArgumentError


def test_every_name_is_on_both_stacks() -> None:
    for name in kernel_api.__all__:
        assert hasattr(kernel_names, name) or hasattr(kernel_names, name), name
        assert getattr(kernel_api, name) is getattr(theirs, name)
    assert set(kernel_api.__all__) == set(theirs.__all__)


@pytest.mark.parametrize("name", ["AddressSpace", "MemoryOrder", "MemoryScope"])
def test_enumerations_have_the_same_members(name: str) -> None:
    own = {member.name: member.value for member in getattr(kernel_names, name)}
    assert own == {member.name: member.value for member in getattr(theirs, name)}


@pytest.mark.parametrize("extents", [(7,), (8, 4), (8, 4, 2)])
def test_index_spaces_tell_the_same(extents: tuple[int, ...]) -> None:
    assert tuple(kernel_names.Range(*extents)) == tuple(theirs.Range(*extents))
    group = tuple(1 for _ in extents)
    own, other = kernel_names.NdRange(extents, group), theirs.NdRange(extents, group)
    assert tuple(own.global_range) == tuple(other.global_range)
    assert tuple(own.local_range) == tuple(other.local_range)
    assert own == kernel_names.NdRange(extents, group)
    assert own != kernel_names.NdRange(extents, extents)


@pytest.mark.parametrize(("extents", "group"), [((10,), (4,)), ((8, 8), (4,)), ((8,), (0,))])
def test_groups_that_do_not_fit_are_refused(extents: tuple[int, ...], group: tuple[int, ...]) -> None:
    with pytest.raises(IndexSpaceError):
        kernel_names.NdRange(extents, group)


def test_an_extent_is_a_whole_number() -> None:
    with pytest.raises(IndexSpaceError):
        kernel_names.Range(1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [64, (8, 4)])
def test_local_memory_tells_the_same(shape: int | tuple[int, ...]) -> None:
    own, other = kernel_names.LocalAccessor(shape, np.float32), theirs.LocalAccessor(shape, np.float32)
    assert own._shape == other._shape
    assert own._dtype == np.dtype(other._dtype)


@pytest.mark.parametrize(("shape", "dtype"), [(0, np.int32), ((1, 1, 1, 1), np.int32), (4, np.complex64)])
def test_local_memory_that_there_is_not_is_refused(shape: int | tuple[int, ...], dtype: type) -> None:
    with pytest.raises(ArgumentError):
        kernel_names.LocalAccessor(shape, dtype)


def test_what_only_kernels_use_says_so() -> None:
    group: Any = None
    with pytest.raises(NotSimulated, match=r"kernel_api\.group_barrier needs the other work-items of its group"):
        kernel_names.group_barrier(group)
