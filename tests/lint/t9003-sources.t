#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every source file is listed in the Makemodule.am of its part of the tree (else the tarball lacks it), and begins with
# its licence.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
cd "$top_srcdir" || exit 99
sources=$(find logic sys spank_plugin slurm_helper noded musterd cli runner bench tests -name '*.[ch]pp' | sort)

unlisted=
unlicensed=
for source in $sources; do
    # The fragment is in the folder itself or, for tests, in one above; paths in it are relative to its own folder.
    folder=$(dirname "$source")
    while [ ! -f "$folder/Makemodule.am" ] && [ "$folder" != . ]; do folder=$(dirname "$folder"); done
    inside=${source#"$folder"/}
    grep -qE "^[^#]*(%D%|$folder)/$inside( |$)" "$folder/Makemodule.am" 2>/dev/null || unlisted="$unlisted $source"
    head -n 2 "$source" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' || unlicensed="$unlicensed $source"
done

echo 1..2
if [ -z "$unlisted" ]; then
    echo "ok 1 - every source file is in a Makemodule.am"
else
    echo "not ok 1 - every source file is in a Makemodule.am, but not:$unlisted"
fi
if [ -z "$unlicensed" ]; then
    echo "ok 2 - every source file begins with its licence"
else
    echo "not ok 2 - every source file begins with its licence, but not:$unlicensed"
fi
