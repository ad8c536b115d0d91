"""Write the script of Vega, Vega-Lite and vega-embed that pages of xebench hold: ``make vega``."""

import sys
from pathlib import Path

import vl_convert

HEAD = """/* Vega {vega}, Vega-Lite {vega_lite}, vega-embed and vega-tooltip, bundled by vl-convert-python {version}:
made by 'make vega', never by hand. Licences: vega.LICENSE. */
"""

if __name__ == "__main__":
    head = HEAD.format(
        vega=vl_convert.get_vega_version(),
        vega_lite=max(vl_convert.get_vegalite_versions(), key=lambda text: [*map(int, text.split("."))]),
        version=vl_convert.__version__,
    )
    Path(sys.argv[1]).write_text(head + vl_convert.javascript_bundle() + "\n", encoding="utf-8")
