"""What is read out of a kernel's text."""

import pytest

from numba_sycl.errors import OptionError
from xebench.dpex.foreign_parameters import GlobalPointer, LocalPointer, Number
from xebench.dpex.opencl_source import declaration, read_parameters


def test_comments_macros_and_attributes() -> None:
    found = declaration(
        """
        #define REAL float
        // __kernel void commented(int a) {}
        typedef unsigned int count_t;
        void helper(int a) { }
        __attribute__((intel_reqd_sub_group_size(SIMD)))
        kernel __attribute__((reqd_work_group_size(GROUP, 2, 1))) void run(
            global const REAL *restrict x, /* , */ count_t n __attribute__((unused)))
        { }
        """,
        None,
        ["-DSIMD=16", "-DGROUP=(32)"],
    )
    assert found.name == "run"
    assert (found.sub_group_size, found.work_group_size) == (16, (32, 2, 1))
    assert read_parameters(found.parameters) == (GlobalPointer("float32"), Number("uint32"))


def test_an_attribute_behind_a_macro_counts() -> None:
    text = "#define OF(x) x\n#define LANES __attribute__((intel_reqd_sub_group_size(8)))\nLANES __kernel void f() {}"
    assert declaration(text, "f").sub_group_size == 8


def test_each_kernel_has_its_own_attributes() -> None:
    text = "__attribute__((intel_reqd_sub_group_size(8))) kernel void f() { if (1) {} } kernel void g(int a) {}"
    assert [declaration(text, name).sub_group_size for name in "fg"] == [8, None]


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("void f() {}", None, r"has no kernels"),
        ("kernel void f() {} kernel void g() {}", None, r"has 2 kernels \(f, g\): state name="),
        ("kernel void scale() {}", "scael", r"no kernel 'scael': did you mean scale\?"),
        ("kernel void f(int a) {} kernel void f(float a) {}", "f", "declared in several ways"),
        ("__attribute__((intel_reqd_sub_group_size(N))) kernel void f() {}", "f", r"size\(N\) is no number here"),
    ],
)
def test_what_cannot_be_told_is_said(text: str, name: str | None, line: str) -> None:
    with pytest.raises(OptionError, match=line):
        declaration(text, name)


def test_types() -> None:
    text = (
        "__global const float4 *v, global void *any, __constant uchar *table, __local double tile[], "
        "unsigned long int big, size_t n, unsigned u, const int i, __global struct point *points, global half*"
    )
    assert read_parameters(text) == (
        GlobalPointer("float32"),
        GlobalPointer(None),
        GlobalPointer("uint8"),
        LocalPointer("float64"),
        Number("uint64"),
        Number("uint64"),
        Number("uint32"),
        Number("int32"),
        GlobalPointer(None),
        GlobalPointer("float16"),
    )
    assert read_parameters("void") == read_parameters(" ") == ()


@pytest.mark.parametrize(
    "text",
    ["float *x", "__global float **x", "float4 v", "half h", "bool b", "read_only image2d_t image", "real x", "x"],
)
def test_what_cannot_be_given(text: str) -> None:
    with pytest.raises(OptionError, match="parameter"):
        read_parameters(text)
