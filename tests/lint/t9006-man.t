#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every man page reads without an error, and what a page refers to among our own pages exists.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
command -v mandoc >/dev/null || { echo "1..0 # SKIP no mandoc here"; exit 0; }
cd "$top_srcdir/man" || exit 99
count=0
for page in *.[1-9]; do
    count=$((count + 1))
    if mandoc -T lint -W error "$page" | sed 's/^/# /' | grep .; then printf 'not '; fi
    echo "ok $count - $page has no error"
    count=$((count + 1))
    missing=
    for name in $(mandoc -T ascii "$page" | sed 's/.\x08//g' | grep -oE '\b(muster|noded)[a-z.-]*\([1-9]\)' | tr -d '()' | sort -u); do
        [ -f "$(echo "$name" | sed 's/\(.\)$/.\1/')" ] || missing="$missing $name"
    done
    [ -z "$missing" ] || printf 'not '
    echo "ok $count - $page refers to pages that exist${missing:+, but not:$missing}"
done
echo "1..$count"
