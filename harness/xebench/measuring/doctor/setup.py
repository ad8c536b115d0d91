"""Install the pinned set into the environment that runs this."""

from __future__ import annotations

import importlib.util
import shlex
import subprocess
import sys
from collections.abc import Callable

from xebench.errors import BrokenEnvironment, XebenchError
from xebench.system.runtime import packages


def install_pinned(say: Callable[[str], None]) -> None:
    """Install exactly what the lock names, by pip without its resolver, which accepts no such set.

    Args:
        say: told what will be done, and what was.

    Raises:
        XebenchError: this environment cannot have the pinned set, or pip failed.
    """
    _check_environment()
    say(f"the pinned set replaces what {sys.prefix} has of the same packages: {shlex.join(_command())}")
    status = subprocess.run(_command(), check=False).returncode
    if status:
        raise BrokenEnvironment(f"pip ended with status {status}, see above: run {packages.SETUP} again")
    say("installed: xebench doctor looks at it")


def _command() -> list[str]:
    options = ("--no-deps", "--require-hashes", "--disable-pip-version-check")
    return [sys.executable, "-m", "pip", "install", *options, "-r", str(packages.lock_file())]


def _check_environment() -> None:
    if packages.in_conda():
        raise XebenchError("pip's pinned set is not for conda: run conda env update --file conda-env.yml")
    wanted, running = (".".join(map(str, version)) for version in (packages.FIRST_PYTHON, sys.version_info[:2]))
    if not packages.FIRST_PYTHON <= sys.version_info[:2] < packages.BEYOND_PINNED:
        step = f"install xebench into a virtual environment of Python {wanted} and run {packages.SETUP} there"
        raise XebenchError(f"the pinned set needs Python {wanted}, this is {running}: {step}")
    if sys.prefix == sys.base_prefix:
        step = f"make one with {sys.executable} -m venv, install xebench into it and run {packages.SETUP} there"
        raise XebenchError(f"{sys.prefix} is no virtual environment, and others use its packages: {step}")
    if importlib.util.find_spec("pip") is None:
        raise XebenchError(f"{sys.prefix} has no pip: run {shlex.quote(sys.executable)} -m ensurepip")
