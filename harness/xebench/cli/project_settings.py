"""The table ``[tool.xebench]`` of a project's ``pyproject.toml``: defaults of ``xebench run``, and thresholds of ``ab``
and ``compare``, in that project.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from xebench.errors import XebenchError, suggestion

KEYS: Final = ("paths", "preset", "device", "thresholds")


def read(folder: Path) -> dict[str, Any]:
    """The settings of the nearest ``pyproject.toml`` at or above a folder; paths are whole ones.

    Raises:
        XebenchError: the file is no TOML, or the table has something else than `KEYS`.
    """
    file = next((path for each in (folder, *folder.parents) if (path := each / "pyproject.toml").is_file()), None)
    if file is None or "tool.xebench" not in (text := file.read_text(encoding="utf-8", errors="replace")):
        return {}
    import tomllib  # only such a project needs it

    try:
        table = tomllib.loads(text).get("tool", {}).get("xebench", {})
    except tomllib.TOMLDecodeError as error:
        raise XebenchError(f"{file} is no TOML ({error}): correct it") from None
    for key, value in table.items():
        if key not in KEYS:
            raise XebenchError(f"{file}: [tool.xebench] has no key {key!r}: {suggestion(key, KEYS)}")
        texts = value if key == "paths" else [*value.values()] if isinstance(value, dict) else [value]
        is_right = isinstance(texts, list) and isinstance(value, dict) == (key == "thresholds")
        if not is_right or not all(isinstance(text, str) for text in texts):
            kind = {"paths": "a list of files", "thresholds": "a table of text"}.get(key, "text")
            raise XebenchError(f"{file}: [tool.xebench] {key} = {value!r}: give {kind}")
    if "paths" in table:
        table["paths"] = [str(file.parent / path) for path in table["paths"]]
    return dict(table)
