"""LLVM's SPIR-V back end leaves the hints of loops out of kernels: there is no OpLoopMerge."""

import llvmlite.binding as llvm

TRIPLE = "spirv64v1.3-unknown-unknown"
MODULE = """
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

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
text = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=0).emit_assembly(llvm.parse_assembly(MODULE))
print("OpLoopMerge is there" if "OpLoopMerge" in text else "no OpLoopMerge: the hint is lost")
