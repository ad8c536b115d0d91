#!/bin/sh
# With the current Intel GPU compiler, in the root of tools/intel-root.sh: the whole suite, with what is claimed of its
# code, and the tests of the room.
#
#   tools/isa-current.sh [ROOT]        ROOT: where it goes, kept for the next time [/var/cache/xebench/ocloc-current]
set -eu
root=${1:-/var/cache/xebench/ocloc-current}
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
python=${PYTHON:-$here/.venv/bin/python}
suite=$here/harness/xebench/isa/data/isa_suite.json

"$here/tools/intel-root.sh" "$root"

# No chroot: the root's own dynamic linker runs its compiler, so that it sees the files of here.
program=$(ls "$root"/usr/bin/ocloc-* | tail -n 1)
cat >"$root/ocloc" <<END
#!/bin/sh
exec "$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" "$program" "\$@"
END
chmod +x "$root/ocloc"

"$python" -m tools.pages.kept_data suite --ocloc "$root/ocloc" --save "$suite"
"$python" -m tools.pages.generated_code
PATH="$root:$PATH" "$python" -m pytest "$here/tests/isa"
