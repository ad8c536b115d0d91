"""LLVM's SPIR-V back end widens integers of odd widths without masking them: ``x % 16`` becomes ``x % 256``.

Its code generator makes such integers itself where its optimizer is on (opt=1 and above), of addresses in loops.
"""

import llvmlite.binding as llvm

TRIPLE = "spirv64v1.3-unknown-unknown"
MODULE = """
define spir_kernel void @mask(ptr addrspace(1) %x) {
  %value = load i64, ptr addrspace(1) %x
  %low = trunc i64 %value to i4
  %wide = zext i4 %low to i64
  store i64 %wide, ptr addrspace(1) %x
  ret void
}
"""

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
machine = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=0)
text = machine.emit_assembly(llvm.parse_assembly(MODULE))
print(*(line for line in text.splitlines() if "OpConstant" in line or "OpBitwiseAnd" in line), sep="\n")
print("right" if "OpConstant %2 15" in text else "wrong: the mask of 4 bits is 15")
