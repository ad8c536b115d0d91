#!/bin/sh
# Make a root with Intel's current GPU compiler and driver of Debian unstable, which need a newer libc than stable's.
# Needs root and debootstrap; a minute, 660 MB. What is there is kept. Unstable changes daily and is at times not
# installable, so it is taken as it was on one day.
#
#   tools/intel-root.sh [ROOT [MIRROR]]        ROOT: where it goes [/var/cache/xebench/ocloc-current]
#                                              MIRROR: archive of Debian [its snapshot of 2026-11-01]
set -eu
root=${1:-/var/cache/xebench/ocloc-current}
mirror=${2:-https://snapshot.debian.org/archive/debian/20261101T000000Z}
if ls "$root"/usr/bin/ocloc-* "$root"/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1 >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo "intel-root: making $root needs root and debootstrap (apt-get install debootstrap)" >&2
    exit 3
fi
rm -rf "$root"
mkdir -p "$(dirname "$root")"
packages=intel-ocloc,libigc2,libigdfcl2,libze1,libze-intel-gpu1,intel-opencl-icd
debootstrap --variant=minbase --include="$packages" unstable "$root" "$mirror"
