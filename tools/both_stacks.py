"""Have pattern files import from harness what they import from numba-dpex: ``python tools/both_stacks.py FILE...``.

Kernels stay as they are, byte for byte in SPIR-V. Run ``ruff check --fix`` and ``ruff format`` on the files afterwards.
"""

import re
import sys
from pathlib import Path

OWN = ("kernel", "device_func")


def ported(text: str) -> str:
    """A file that does not import numba-dpex; a variant that calls its ``call_kernel`` asks for it by itself."""
    used = [name for name in OWN if re.search(rf"^ *@(dpex\.|numba_dpex\.)?{name}\b|[^.\w@]{name}\(", text, re.M)]
    text = re.sub(
        r"^(import numba_dpex( as dpex)?|from numba_dpex import kernel_api( as kapi)?)\n", "", text, flags=re.M
    )
    text = re.sub(r"@(?:dpex|numba_dpex)\.(kernel|device_func)(\(error_model=\"numpy\"\))?", r"@\1", text)
    text = re.sub(r"^from harness\.dpex import (.*)\n", _without_own, text, flags=re.M)
    names = "".join(f"from harness import {name}\n" for name in used)
    alias = "from harness import kernel_api as kapi\n" if "kapi." in text else ""
    text = re.sub(r"^(from harness import )", rf"{alias}{names}\1", text, count=1, flags=re.M)
    calls = re.compile(r"^( +)(for .*:\n.*\bdpex\.call_kernel)", re.M)
    if calls.search(text):
        text = calls.sub(r"\1dpex = load_numba_dpex()\n\1\2", text)
        text = text.replace("from harness.dpex import ", "from harness.dpex import load_numba_dpex, ", 1)
    return text


def _without_own(line: re.Match[str]) -> str:
    names = [name.strip() for name in line[1].split(",") if name.strip() not in OWN]
    return f"from harness.dpex import {', '.join(names)}\n" if names else ""


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        text = path.read_text(encoding="utf-8")
        if "numba_dpex" in text:
            path.write_text(ported(text), encoding="utf-8")
