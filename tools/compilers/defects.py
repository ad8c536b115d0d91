"""Defects that our compiler works around: ``python tools/compilers/defects.py NAME`` shows whether one is there.

All but the last are of LLVM's SPIR-V back end in llvmlite (0.45 or later); docs/compiler.md says what we do about each.
"""

from __future__ import annotations

import sys
from typing import Final

#: A loop whose hint is to be lost.
LOOP: Final = """
define spir_kernel void @fill(ptr addrspace(1) %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr addrspace(1) %x, i64 %i
  store i32 1, ptr addrspace(1) %at
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end, !llvm.loop !0
end:
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
"""

#: An integer of 4 bits, as the back end makes them of addresses in loops where its optimizer is on (opt=1 and above).
MASK: Final = """
define spir_kernel void @mask(ptr addrspace(1) %x) {
  %value = load i64, ptr addrspace(1) %x
  %low = trunc i64 %value to i4
  %wide = zext i4 %low to i64
  store i64 %wide, ptr addrspace(1) %x
  ret void
}
"""

MAXIMUM: Final = """
__kernel void not_of_maximum(__global const int *a, __global int *r) {
    const int i = get_global_id(0);
    r[i] = ~max(a[i], a[(i + 1) % 8]);
}
"""


def loop_hints() -> str:
    """The back end leaves the hints of loops out of kernels: there is no OpLoopMerge."""
    found = "OpLoopMerge" in emitted(LOOP).decode()
    return "OpLoopMerge is there" if found else "no OpLoopMerge: the hint is lost"


def odd_widths() -> str:
    """The back end widens integers of odd widths without masking them: ``x % 16`` becomes ``x % 256``."""
    text = emitted(MASK).decode()
    lines = (line for line in text.splitlines() if "OpConstant" in line or "OpBitwiseAnd" in line)
    verdict = "right" if "OpConstant %2 15" in text else "wrong: the mask of 4 bits is 15"
    return "\n".join([*lines, verdict])


def second_module() -> str:
    """The back end makes other modules of the same text once its process has emitted some before.

    The state of earlier modules is in static variables (https://github.com/llvm/llvm-project/issues/160613).
    """
    first: dict[int, bytes] = {}
    others = 0
    for updates in (1, 5, 30) * 100:
        made = emitted(_updating(updates), binary=True)
        others += first.setdefault(updates, made) != made
    return f"{others} of 300 modules are not the bytes that the same text gave before"


def _updating(updates: int) -> str:
    """A module with so many updates of an array."""
    update = """
  %v{0} = call spir_func i64 @_Z13get_global_idj(i32 0)
  %p{0} = getelementptr i64, ptr addrspace(1) %x, i64 %v{0}
  store i64 %v{0}, ptr addrspace(1) %p{0}"""
    body = "".join(update.format(number) for number in range(updates))
    declared = "declare spir_func i64 @_Z13get_global_idj(i32)"
    return f"define spir_kernel void @store(ptr addrspace(1) %x) {{{body}\n  ret void\n}}\n{declared}\n"


def emitted(module: str, *, binary: bool = False) -> bytes:
    """The back end's output for a module in LLVM IR: text, or the binary."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("spirv64v1.3-unknown-unknown").create_target_machine(opt=0)
    parsed = llvm.parse_assembly(module)
    return bytes(machine.emit_object(parsed)) if binary else machine.emit_assembly(parsed).encode()


def not_of_maximum() -> str:
    """Intel's CPU driver (2026.2) makes ``max(a, b)`` of ``~max(a, b)``: of 32 and of 64 bits, of ``min`` too."""
    import numpy as np

    from xebench import kernel_api, opencl_kernel
    from xebench.system import runtime

    runtime.load()
    from numba_sycl.tensor import tensor
    from xebench.session.session import Session

    session = Session.on("opencl:cpu:0")
    numbers = np.arange(8, dtype=np.int32) * 5 % 8
    right = ~np.maximum(numbers, np.roll(numbers, -1))
    lines = []
    for options in ("", "-cl-opt-disable"):
        a, r = (tensor.asarray(numbers, sycl_queue=session.queue) for _ in range(2))
        kernel = opencl_kernel(MAXIMUM, build_options=options)
        session.launch(kernel, kernel_api.NdRange((8,), (8,)), a, r).wait()
        lines.append(f"{options or 'optimised'} {tensor.asnumpy(r)} right are {right}")
    return "\n".join(lines)


if __name__ == "__main__":
    defects = {one.__name__: one for one in (loop_hints, odd_widths, second_module, not_of_maximum)}
    for name in sys.argv[1:] or defects:
        print(f"{name}: {defects[name]()}")
