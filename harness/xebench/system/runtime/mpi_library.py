"""The MPI of this process, by ctypes: the value that it has read of a variable, which mpi4py does not offer."""

from __future__ import annotations

import ctypes
import re
import sys
from typing import Final

#: Of what MPI's tool interface writes: names, descriptions and values.
_ROOM: Final = 1 << 14


def control_variable(name: str) -> int | None:
    """The value that this process's MPI has for a variable that is a whole number; None if it reads no such variable.

    MPICH and Intel's MPI describe their settings by MPI's tool interface (``MPI_T``), and Intel's says beside each
    which variable sets it. So what a newer library has renamed or dropped is found out.
    """
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None:
        return None
    library, level = ctypes.CDLL(mpi.__file__), ctypes.c_int()
    if library.MPI_T_init_thread(0, ctypes.byref(level)):
        return None
    try:
        return _find(library, name)
    finally:
        library.MPI_T_finalize()


def _find(library: ctypes.CDLL, name: str) -> int | None:
    number = ctypes.c_int()
    library.MPI_T_cvar_get_num(ctypes.byref(number))
    own_name, description = ctypes.create_string_buffer(_ROOM), ctypes.create_string_buffer(_ROOM)
    verbosity, bind, scope = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    datatype, enumeration = ctypes.c_void_p(), ctypes.c_void_p()
    for index in range(number.value):
        lengths = [ctypes.byref(ctypes.c_int(_ROOM)) for _ in range(2)]
        about = map(ctypes.byref, (verbosity, datatype, enumeration))
        places = ctypes.byref(bind), ctypes.byref(scope)
        library.MPI_T_cvar_get_info(index, own_name, lengths[0], *about, description, lengths[1], *places)
        if re.search(rf"@Alias:# {name}\b", description.value.decode(errors="replace")):
            return _value(library, index)
    return None


def _value(library: ctypes.CDLL, index: int) -> int | None:
    handle, count = ctypes.c_void_p(), ctypes.c_int()
    library.MPI_T_cvar_handle_alloc(index, None, ctypes.byref(handle), ctypes.byref(count))
    value = ctypes.create_string_buffer(_ROOM)  # a text has up to its count of characters
    library.MPI_T_cvar_read(handle, value)
    library.MPI_T_cvar_handle_free(ctypes.byref(handle))
    return int.from_bytes(value.raw[:4], sys.byteorder, signed=True) if count.value == 1 else None
