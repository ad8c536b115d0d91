"""The pictures of docs/img: a run's HTML report in Chromium, light and dark, wide and narrow.

``python -m tools.screenshots results/cpu-epyc-2-cores`` makes them again; it needs Chromium and Pillow.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from PIL import Image

from xebench.report import formats
from xebench.results import load_run

OPTIONS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars"),
)


class Page:
    """The one page of a browser, and every line of its console so far."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._rest, self._number, self._session = b"", 0, ""
        self.console: list[str] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")

    def look(self, width: int, height: int, *, dark: bool) -> None:
        """The size of the window in pixels, and the user's taste."""
        self._ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        taste = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._ask("Emulation.setEmulatedMedia", features=taste)

    def open(self, file: Path, anchor: str = "") -> None:
        """Open a file, and wait until it is loaded."""
        self._ask("Page.navigate", url="about:blank")  # another anchor alone would load nothing
        self._ask("Page.navigate", url=file.resolve().as_uri() + (f"#{anchor}" if anchor else ""))
        self.value("new Promise(done => document.readyState == 'complete' ? done(1) : addEventListener('load', done))")

    def value(self, expression: str) -> Any:
        """The awaited result of an expression of JavaScript."""
        answer = self._ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise ValueError(f"{expression}: {answer['exceptionDetails']['exception'].get('description')}")
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """A key, such as ``Tab``, ``Enter`` or ``Space``."""
        text = {"Enter": "\r", "Space": " "}.get(key)
        code = {"Tab": 9, "Enter": 13, "Space": 32, "ArrowRight": 39}[key]
        name = " " if key == "Space" else key
        common = {"key": name, "code": key, "windowsVirtualKeyCode": code}
        self._ask("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self._ask("Input.dispatchKeyEvent", type="keyUp", **common)

    def screenshot(self, selector: str = "", height: int = 0) -> bytes:
        """The window as a PNG, or an element with what is below it, of so many pixels at most."""
        if not selector:
            return base64.b64decode(self._ask("Page.captureScreenshot")["data"])
        found = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        top, own = self.value(f"(b => [b.top + scrollY, b.height])({found})")
        width = self.value("innerWidth")
        clip = {"x": 0, "y": top, "width": width, "height": min(height or own, own), "scale": 1}
        shot = self._ask("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise ValueError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._notice(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._from, 1 << 20)
            if not part:
                raise EOFError("the browser has ended")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def _notice(self, event: dict[str, Any]) -> None:
        """Whatever a page says, fails at, or loads from elsewhere."""
        method, told = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.console.append(f"{told['type']}: {[each.get('value') for each in told['args']]}")
        elif method == "Runtime.exceptionThrown":
            self.console.append(f"exception: {told['exceptionDetails']['text']}")
        elif method == "Log.entryAdded":
            self.console.append(f"{told['entry']['level']}: {told['entry']['text']}")
        elif method == "Page.javascriptDialogOpening":
            self.console.append(f"dialog: {told['message']}")
        elif method == "Network.requestWillBeSent":
            url = told["request"]["url"]
            if not url.startswith(("file:", "about:", "data:")):
                self.console.append(f"request: {url}")


@contextmanager
def browser(program: str = "chromium") -> Iterator[Page]:
    """A browser with a profile of its own, which ends with the block."""
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [program, *OPTIONS, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        # it reads from 3 and writes to 4
        shell = f"exec 8<&{theirs_in} 9>&{theirs_out}; exec {shlex.join(command)} 3<&8 4>&9"
        process = subprocess.Popen(
            ["/bin/bash", "-c", shell],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            yield Page(ours_out, ours_in)
        finally:
            os.close(ours_out)  # the browser ends when this pipe is closed
            os.close(ours_in)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


FOLDER: Final = Path(__file__).resolve().parents[1] / "docs" / "img"
#: Window widths in pixels, by name.
WIDTHS: Final = {"wide": 1280, "narrow": 390, "readme": 640}
#: What is seen: name, element, and how many pixels of it.
PARTS: Final[Mapping[str, tuple[str, Mapping[str, int]]]] = {
    "overview": ("body", {"wide": 1250, "narrow": 1500}),
    "pattern": ("", {"wide": 2000, "narrow": 2200}),
    "extremes": (".charts", {"readme": 700}),
}
#: Resolves when the charts in the window are drawn.
CHARTS: Final = """(async () => {
  const inside = (box) => box.bottom > 0 && box.top < innerHeight;
  const seen = (chart) => chart.checkVisibility() && inside(chart.getBoundingClientRect());
  const missing = (chart) => seen(chart) && !chart.querySelector("svg");
  while ([...document.querySelectorAll("[data-spec]")].some(missing)) await new Promise((on) => setTimeout(on, 100));
})()"""
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
                page.look(width, 2400, dark=taste == "dark")
                for part in arguments.part or PARTS:
                    element, heights = PARTS[part]
                    if size not in heights:
                        continue
                    page.open(file, "" if element else arguments.pattern)
                    page.value(CHARTS)
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
