"""The pictures of docs/img: a run's HTML report in Chromium, light and dark, wide and narrow.

``python -m tools.screenshots results/cpu-epyc-2-cores`` makes them again; it needs Chromium and Pillow.
"""

from __future__ import annotations

import argparse
import io
import tempfile
from pathlib import Path
from typing import Final

from PIL import Image

from tools.browser import browser
from xebench.report import formats
from xebench.tables import load_run

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs" / "img"
#: Window widths in pixels, by name.
WIDTHS: Final = {"wide": 1280, "narrow": 390}
#: What is seen: name, element, and how many pixels of it.
PARTS: Final = {"overview": ("body", {"wide": 1250, "narrow": 1500}), "pattern": ("", {"wide": 2000, "narrow": 2200})}
MOST_BYTES: Final = 150_000


def main() -> None:
    """Make all pictures of a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a run")
    parser.add_argument("--pattern", default="atomics_global_vs_local", help="which pattern is shown open")
    parser.add_argument("--part", choices=[*PARTS], action="append", help="which pictures; all by default")
    arguments = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser() as page:
        file = Path(folder) / "report.html"
        file.write_text(formats.render(load_run(arguments.run), "html"), encoding="utf-8")
        for size, width in WIDTHS.items():
            for taste in ("light", "dark"):
                page.look(width, 900, dark=taste == "dark")
                for part in arguments.part or PARTS:
                    element, heights = PARTS[part]
                    page.open(file, "" if element else arguments.pattern)
                    shot = page.screenshot(element or f"#{arguments.pattern}", heights[size])
                    small = smaller(shot)
                    (FOLDER / f"{part}-{size}-{taste}.png").write_bytes(small)
                    print(f"{part}-{size}-{taste}.png: {len(small)} bytes")


def smaller(shot: bytes) -> bytes:
    """A picture with as many colours as `MOST_BYTES` allow.

    Raises:
        SystemExit: eight are too many.
    """
    picture = Image.open(io.BytesIO(shot)).convert("RGB")
    for colours in (64, 32, 16, 8):
        written = io.BytesIO()
        picture.quantize(colours, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
        if written.tell() <= MOST_BYTES:
            return written.getvalue()
    raise SystemExit("a picture is too large: take less of the page")


if __name__ == "__main__":
    main()
