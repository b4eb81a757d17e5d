#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The main job, end to end, as ./quickstart tells it. The story itself fails when something in it is not so.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tap.sh"
top=$(cd "$here/../.." && pwd)
folder=$(mktemp -d /tmp/muster-quickstart.XXXXXX)
export QUICKSTART_DIR=$folder QUICKSTART_BUILD=${top_builddir:?is set by make check}
# Other tests may run beside this one, on two cores.
export QUICKSTART_SECONDS=120

quickstart() {
    (cd / && "$top/quickstart" "$@" </dev/null)
}

cleanup() {
    quickstart --stop >/dev/null 2>&1 || :
    rm -rf "$folder"
}
trap cleanup EXIT

ends_well() {
    quickstart "$@" >"$folder.out" 2>&1 && tail -n 1 "$folder.out" | grep -q '^quickstart: ok' && return
    tail -n 80 "$folder.out"
    return 1
}

check "the story ends well, from another working directory" ends_well
check "a second one does too, and --keep leaves it running" ends_well --keep
refute "a third one is refused while it runs" quickstart
check "--enter gives a command on its head" test "$(quickstart --enter hostname)" = head
check "its group is in service" bash -c '
    "$1/quickstart" --enter muster status --json | jq -e ".Groups[0].Status == \"InService\""' status "$top"
check "--stop ends it" quickstart --stop
refute "and nothing of it is left" pgrep -f "$folder"
refute "--enter says that there is none" quickstart --enter hostname
rm -f "$folder.out"
tap_end
