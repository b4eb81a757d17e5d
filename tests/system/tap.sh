# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tap.sh: prints test results in the Test Anything Protocol. A library: source it from bash.
#
#   check SENTENCE COMMAND...    one test: COMMAND succeeds. Its output is shown only when it fails.
#   refute SENTENCE COMMAND...   one test: COMMAND fails.
#   pass SENTENCE, fail SENTENCE one test with a result already known
#   note TEXT                    a comment in the output
#   tap_end                      prints the plan; fails if a test has failed

tap_count=0
tap_failed=0

note() {
    sed 's/^/# /' <<<"$*"
}

pass() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}

fail() {
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $1"
}

check() {
    local sentence=$1 output
    shift
    if output=$("$@" 2>&1); then
        pass "$sentence"
    else
        fail "$sentence"
        note "failed: $*"
        [[ -z $output ]] || note "$output"
    fi
}

refute() {
    local sentence=$1 output
    shift
    if output=$("$@" 2>&1); then
        fail "$sentence"
        note "succeeded: $*"
        [[ -z $output ]] || note "$output"
    else
        pass "$sentence"
    fi
}

tap_end() {
    echo "1..$tap_count"
    ((tap_failed == 0))
}
