"""``python -m xebench``: the command ``xebench``."""

from xebench.cli.main import main

main()
