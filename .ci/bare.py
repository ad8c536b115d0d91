"""A machine without optional programs: ``python .ci/bare.py FOLDER VENV``.

``FOLDER/path`` has a link to every program on the path but those hidden, and ``FOLDER/venv`` is the environment without
its own. So nothing has to be uninstalled, and nothing that looks for a program finds it, wherever it lies.
"""

import os
import sys
from fnmatch import fnmatch
from pathlib import Path

#: Intel's compiler, C compilers, browsers, MPI, and what else a developer may have.
HIDDEN = (
    *("ocloc*", "cc", "c89*", "c99*", "gcc*", "g++*", "c++*", "cpp*", "*-gcc*", "*-g++*", "clang*", "icx*"),
    *("chrom*", "google-chrome*", "firefox*", "msedge*", "brave*", "xdg-open", "sensible-browser", "www-browser"),
    *("mpi*", "orterun", "prterun", "hydra_*", "spirv-*", "llvm-spirv*", "tmux*", "clinfo*", "uv", "uvx"),
)


def link_programs(folder: Path, sources: list[Path]) -> None:
    """Link what the first of the sources has."""
    folder.mkdir(parents=True)
    for source in filter(Path.is_dir, sources):
        for program in source.iterdir():
            link = folder / program.name
            if not link.is_symlink() and not any(fnmatch(program.name, pattern) for pattern in HIDDEN):
                link.symlink_to(program.absolute())


def adopt_scripts(folder: Path, venv: Path) -> None:
    """Have the environment's commands run by the Python of this folder, beside which they look for others."""
    own = f"#!{venv.absolute()}/bin/".encode()
    for script in list(folder.iterdir()):
        if script.is_file() and script.stat().st_size < 1 << 20 and script.read_bytes().startswith(own):
            text = script.read_bytes().replace(own, f"#!{folder.absolute()}/".encode(), 1)
            script.unlink()
            script.write_bytes(text)
            script.chmod(0o755)


def main(folder: Path, venv: Path) -> None:
    """Make both."""
    link_programs(folder / "path", [Path(entry) for entry in os.environ["PATH"].split(os.pathsep) if entry])
    link_programs(folder / "venv/bin", [venv / "bin"])
    adopt_scripts(folder / "venv/bin", venv)
    for entry in venv.iterdir():
        if entry.name != "bin":
            (folder / "venv" / entry.name).symlink_to(entry.absolute())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
