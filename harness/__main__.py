"""``python -m harness``: the command ``xebench``."""

from harness.cli.main import main

main()
