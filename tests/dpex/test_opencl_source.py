"""What is read out of a kernel's text."""

import itertools
import struct

import pytest

from xebench.dpex.dpex_errors import OptionError
from xebench.dpex.foreign_kernel import (
    GlobalPointer,
    LocalPointer,
    Number,
    check_variables,
    declaration,
    opencl_kernel,
    read_parameters,
    spirv_kernel,
)


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


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("__global float kept[64], of[64]; kernel void f(global int *y) { for (;;) { y[0] = kept[0]; } }", "kept"),
        ("static int count = 0; kernel void f(global int *y) { if (1) { } else { y[0] = count++; } }", "count"),
        ("void g(int x) { } __attribute__((x(1))) global int a[2] = {1, 2}; kernel void f(global int *y) { }", "a"),
        ("typedef struct { int a; } T;\n#define OWN __global T\nOWN t; kernel void f(global int *y) { }", "t"),
    ],
)
def test_a_variable_of_the_program_is_refused(text: str, name: str) -> None:
    with pytest.raises(OptionError, match=f"kernel f: variable {name} of its program lasts"):
        check_variables(opencl_kernel(text, name="f"))


def test_a_variable_of_a_module_is_refused() -> None:
    (entry,) = struct.unpack("<I", b"f\0\0\0")
    variable = [4 << 16 | 59, 3, 2, 5]  # OpVariable %3 %2 CrossWorkgroup
    constant = [3 << 16 | 71, 2, 22]  # OpDecorate %2 Constant
    kernel = [4 << 16 | 15, 6, 1, entry]  # OpEntryPoint Kernel %1 "f"

    def check(*instructions: list[int]) -> None:
        words = [0x07230203, 0x00010000, 0, 4, 0, *kernel, *itertools.chain(*instructions)]
        check_variables(spirv_kernel(struct.pack(f"<{len(words)}I", *words), arguments=""))

    check()
    check(constant, variable)
    with pytest.raises(OptionError, match="kernel f: variable of its program lasts"):
        check(variable)


def test_constants_and_variables_of_functions_are_none_of_the_program() -> None:
    text = """
    typedef struct { int a; } T; struct S { int a; float b; }; enum E { A, B };
    __constant float k[2] = {1.0f, 2.0f}; static const int n = 3; float g(float);
    kernel void f(global int *y, local float *t) { __local float x[3]; int a = 1; T u; while (1) { int b; } }
    """
    check_variables(opencl_kernel(text))


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
