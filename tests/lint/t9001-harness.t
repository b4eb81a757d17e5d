#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Proves that the harness can fail: gtest-tap, fed with reports of binaries that did badly, must not say "ok".
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
count=0

report() { # RESULT NAME
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

binary() { # EXIT-CODE, report on standard input: a program that prints it and ends so
    { echo '#!/bin/sh'; echo "cat <<'REPORT'"; cat; echo REPORT; echo "$1"; } >"$work/binary"
    chmod +x "$work/binary"
    sh "$top_srcdir/tests/gtest-tap" "$work/binary" >"$work/tap"
    echo $? >"$work/code"
}

echo 1..6
binary 'exit 0' <<'TEXT'
[==========] Running 2 tests from 1 test suite.
[       OK ] Gate.Opens (0 ms)
[       OK ] Gate.Closes (1 ms)
TEXT
test "$(grep -c '^ok' "$work/tap")" = 2 && ! grep -q '^not ok\|^Bail' "$work/tap" && test "$(cat "$work/code")" = 0
report $? "two good cases are two good lines"

binary 'exit 1' <<'TEXT'
[==========] Running 2 tests from 1 test suite.
[       OK ] Gate.Opens (0 ms)
[  FAILED  ] Gate.Closes, where GetParam() = 3 (1 ms)
[  FAILED  ] Gate.Closes, where GetParam() = 3
TEXT
test "$(grep -c '^not ok 2 - Gate.Closes' "$work/tap")" = 1
report $? "a failed case is one bad line"

binary 'exit 0' <<'TEXT'
[==========] Running 0 tests from 0 test suites.
TEXT
grep -q '^not ok' "$work/tap"
report $? "a binary that ran no test is a failure"

binary 'exit 0' </dev/null
grep -q '^not ok' "$work/tap"
report $? "a binary that reports nothing is a failure"

binary 'kill -9 $$' <<'TEXT'
[==========] Running 2 tests from 1 test suite.
[       OK ] Gate.Opens (0 ms)
TEXT
grep -q '^Bail out!' "$work/tap" && test "$(cat "$work/code")" = 137
report $? "a crash in the middle is a failure"

echo "not ok 6 - this line is expected to fail # TODO it shows that a bad line is counted as one"
