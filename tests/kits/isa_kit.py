"""What the tests of this room share: fixtures, a zebin made by hand, and a stand-in for ocloc."""

from __future__ import annotations

import struct
from pathlib import Path

from xebench.isa.assembly import read_assembly
from xebench.isa.compilation import read_zeinfo
from xebench.isa.kernel_code import KernelCode

FIXTURES = Path(__file__).parents[1] / "isa" / "fixtures"
ALL = sorted(path.relative_to(FIXTURES).with_suffix("").as_posix() for path in FIXTURES.glob("*/*.asm"))

FAKE = """\
#!/bin/sh
if [ "$1" = query ]; then printf '99.1.2 ' > OCL_DRIVER_VERSION; exit 0; fi
while [ $# -gt 0 ]; do
  case "$1" in -device) device=$2; shift;; -options) options=$2; shift;; esac
  shift
done
echo "$device|$options|$IGC_ForceOCLSIMDWidth" >> {here}/calls
case $device in
  crash) kill -SEGV $$;;
  slow) sleep 60;;
  double) echo "1:2:27: error: use of type 'double' requires cl_khr_fp64 support"
          echo "Build failed with error code: -11"; exit 245;;
  unknown) echo "Error: Cannot get HW Info for device unknown."; exit 223;;
  family) echo "Build succeeded."; exit 0;;
  several) mkdir out; touch out/a.bin out/b.bin; echo "Build succeeded."; exit 0;;
  cut) mkdir out; head -c 200 {here}/kernel.bin > out/kernel.bin; echo "Build succeeded."; exit 0;;
esac
if [ -n "$IGC_DumpToCustomDir" ]; then mkdir -p "$IGC_DumpToCustomDir"; cp {here}/*.asm "$IGC_DumpToCustomDir"; fi
mkdir out
cp {here}/kernel.bin out/kernel_x.bin
echo "warning: in kernel 'k': compiled SIMD16 allocated 128 regs and spilled around 114"
echo "Build succeeded."
"""


def text(name: str) -> str:
    """A fixture's text, such as ``igc2/mixture.pvc.asm``."""
    return (FIXTURES / name).read_text(encoding="utf-8")


def code(name: str) -> KernelCode:
    """A fixture read as a kernel: ``igc2/mixture.pvc``."""
    (info,) = read_zeinfo(text(f"{name}.zeinfo")).values()
    return KernelCode(info, read_assembly(text(f"{name}.asm")), info.simd_width)


def zebin(sections: dict[str, bytes]) -> bytes:
    """A 64-bit ELF file with these sections."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in [*sections, ".strtab"])
    body, headers = b"", [bytes(64)]
    for name, content in {**sections, ".strtab": names}.items():
        at = names.index(b"\0" + name.encode() + b"\0") + 1
        headers.append(struct.pack("<IIQQQQIIQQ", at, 1, 0, 0, 64 + len(body), len(content), 0, 0, 1, 0))
        body += content
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    counts = (64, 0, 0, 64, len(headers), len(headers) - 1)
    return head + struct.pack("<HHIQQQIHHHHHH", 1, 205, 1, 0, 0, 64 + len(body), 0, *counts) + body + b"".join(headers)


def fake_ocloc(folder: Path, fixture: str = "igc2/spills.pvc") -> Path:
    """An executable that answers as ocloc does, with a fixture for every source; GPU names make it fail."""
    folder.mkdir(exist_ok=True)
    data = zebin({".ze_info": text(f"{fixture}.zeinfo").encode()})
    (folder / "kernel.bin").write_bytes(data)
    (folder / "OCL_asm0_simd16_entry_0001.asm").write_text(text(f"{fixture}.asm").replace(".spill size", ".first try"))
    (folder / "OCL_asm0_1_simd16_entry_0001.asm").write_text(text(f"{fixture}.asm"))
    script = folder / "ocloc"
    script.write_text(FAKE.replace("{here}", str(folder)))
    script.chmod(0o755)
    return script


def calls(folder: Path) -> list[str]:
    """``device|options|forced width`` of each compilation, without the first, which tests the compiler."""
    return (folder / "calls").read_text().splitlines()[1:]
