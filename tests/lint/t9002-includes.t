#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who may include whom: every #include of every source file against tests/lint/include-map.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
map=$top_srcdir/tests/lint/include-map

# breaches DIR FOLDER: prints "file:line: include" for each include that the map does not allow.
breaches() {
    find "$1/$2" -name '*.cpp' -o -name '*.hpp' | sort | xargs -r awk -v folder="$2" '
        BEGIN { outside = "^<(munge|microhttpd|sqlite3|expat|zlib)\\.h>" }
        function allowed(what, list,   part, count, i) {
            # The standard library has no dot in its names, but for the C headers that C++ replaces.
            if (what ~ /^<[a-z_0-9]+>$/) return 1
            if (index(what, "\"" folder "/") == 1) return 1
            count = split(list, part, " ")
            for (i = 1; i <= count; i++) {
                if (part[i] == "POSIX") { if (what ~ /^<((sys|linux|arpa|net|netinet)\/)?[a-z_0-9]+\.h>$/ && what !~ outside) return 1 }
                else if (index(what, substr(part[i], 1, length(part[i]) - 1)) == 1) return 1
            }
            return 0
        }
        NR == FNR && FILENAME == ARGV[1] { if (index($0, folder ":") == 1) { rules = substr($0, length(folder) + 2) }; next }
        /^[ \t]*#[ \t]*include/ {
            what = $0; sub(/^[ \t]*#[ \t]*include[ \t]*/, "", what); sub(/[ \t]*\/\/.*$/, "", what); sub(/[ \t]+$/, "", what)
            if (!allowed(what, rules)) print FILENAME ":" FNR ": " what
        }' "$map"
}

folders=$(sed -n 's/^\([a-z_/]*\):.*/\1/p' "$map")
echo "1..$(($(echo "$folders" | wc -l) + 2))"
count=0
for folder in $folders; do
    count=$((count + 1))
    found=$(breaches "$top_srcdir" "$folder")
    if [ -z "$found" ]; then
        echo "ok $count - $folder includes only what the map allows"
    else
        echo "$found" | sed 's/^/# /'
        echo "not ok $count - $folder includes only what the map allows"
    fi
done

# The test itself must be able to go red: two planted breaches.
planted=$(mktemp -d) || exit 99
trap 'rm -rf "$planted"' EXIT
mkdir "$planted/logic"
printf '#include <vector>\n#include "logic/x.hpp"\n#include <curl/curl.h>\n' >"$planted/logic/breach.cpp"
printf '#include "sys/files.hpp"\n' >"$planted/logic/breach.hpp"
count=$((count + 1))
if [ "$(breaches "$planted" logic | wc -l)" = 2 ]; then
    echo "ok $count - a planted breach is found"
else
    breaches "$planted" logic | sed 's/^/# /'
    echo "not ok $count - a planted breach is found"
fi

# Each third-party header family belongs to one adapter, a pair of files in sys/.
count=$((count + 1))
families='curl/ microhttpd munge.h nlohmann/ openssl/ sqlite3.h yaml-cpp/'
shared=
for family in $families; do
    pairs=$(grep -l "^#include <$family" "$top_srcdir"/sys/*.cpp "$top_srcdir"/sys/*.hpp 2>/dev/null |
        sed 's/\.[ch]pp$//' | sort -u | wc -l)
    [ "$pairs" -le 1 ] || shared="$shared $family"
done
if [ -z "$shared" ]; then
    echo "ok $count - each third-party header family is included by one adapter"
else
    echo "not ok $count - each third-party header family is included by one adapter:$shared"
fi
