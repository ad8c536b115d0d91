"""The first file of every child process: ``python -P begin.py MODULE ARGUMENTS...``, for ``python -m MODULE ...``.

That would take ``harness`` from the working directory where there is one, which need not be ours.
"""

import sys
from importlib import import_module
from pathlib import Path
from runpy import run_module

sys.path.insert(0, str(Path(__file__).parents[3]))
import_module("xebench")
sys.path[0] = ""  # pattern files may import what lies in the working directory
del sys.argv[0]
run_module(sys.argv[0], run_name="__main__", alter_sys=True)
