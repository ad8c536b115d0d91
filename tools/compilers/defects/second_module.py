"""LLVM's SPIR-V back end makes other modules of the same text once its process has emitted some before.

The state of earlier modules is in static variables (https://github.com/llvm/llvm-project/issues/160613).
"""

import llvmlite.binding as llvm

TRIPLE = "spirv64v1.3-unknown-unknown"


def module(updates: int) -> str:
    """One with so many updates of an array."""
    update = """
  %v{0} = call spir_func i64 @_Z13get_global_idj(i32 0)
  %p{0} = getelementptr i64, ptr addrspace(1) %x, i64 %v{0}
  store i64 %v{0}, ptr addrspace(1) %p{0}"""
    body = "".join(update.format(number) for number in range(updates))
    declared = "declare spir_func i64 @_Z13get_global_idj(i32)"
    return f"define spir_kernel void @store(ptr addrspace(1) %x) {{{body}\n  ret void\n}}\n{declared}\n"


llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
first: dict[int, bytes] = {}
others = 0
for _ in range(100):
    for updates in (1, 5, 30):
        machine = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=0)
        made = machine.emit_object(llvm.parse_assembly(module(updates)))
        others += first.setdefault(updates, made) != made
print(f"{others} of 300 modules are not the bytes that the same text gave before")
