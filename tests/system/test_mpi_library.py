"""What an MPI has read of a variable: a library that answers as MPI's tool interface does stands in for it."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from xebench.system.runtime import variables


class Library:
    """Settings by their index: a description, how many values there are, and the value."""

    settings = (
        ("Without a variable.", 1, b"\x07\0\0\0"),
        ("@Verbosity:# hidden @Alias:# I_MPI_BUFFERS_MORE @Default:# 4", 1, b"\x05\0\0\0"),
        ("@Verbosity:# hidden @Alias:# I_MPI_BUFFERS @Default:# 4", 1, b"\xff\xff\xff\xff"),
        ("How. @Alias:# I_MPI_KIND @Default:# cached", 20, b"cached"),
    )

    def __init__(self) -> None:
        self.calls: list[str] = []

    def MPI_T_init_thread(self, wanted: int, level: Any) -> int:
        self.calls.append("init")
        return 0

    def MPI_T_finalize(self) -> None:
        self.calls.append("finalize")

    def MPI_T_cvar_get_num(self, number: Any) -> None:
        number._obj.value = len(self.settings)

    def MPI_T_cvar_get_info(self, index: int, *places: Any) -> None:
        places[5].value = self.settings[index][0].encode()

    def MPI_T_cvar_handle_alloc(self, index: int, thing: None, handle: Any, count: Any) -> None:
        handle._obj.value, count._obj.value = index + 1, self.settings[index][1]

    def MPI_T_cvar_read(self, handle: Any, value: Any) -> None:
        content = self.settings[handle.value - 1][2]
        ctypes.memmove(value, content, len(content))

    def MPI_T_cvar_handle_free(self, handle: Any) -> None:
        self.calls.append("free")


def test_a_setting_is_found_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setattr(ctypes, "CDLL", {"mpi.so": library}.__getitem__)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", SimpleNamespace(__file__="mpi.so"))
    assert variables.control_variable("I_MPI_BUFFERS") == -1
    assert variables.control_variable("I_MPI_BUFFERS_MORE") == 5
    assert variables.control_variable("I_MPI_KIND") is None, "no number"
    assert variables.control_variable("I_MPI_OTHER") is None
    assert library.calls.count("init") == library.calls.count("finalize") == 4
    assert library.calls.count("free") == 3


def test_without_an_mpi_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", None)
    assert variables.control_variable("I_MPI_BUFFERS") is None
