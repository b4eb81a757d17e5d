#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The same story while musterd and slurmctld are killed at random moments. It must end in the same place: the story checks
# that no machine was launched twice and that no job started on a gathering node.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tap.sh"
. "$here/lab.sh"
top=$(cd "$here/../.." && pwd)
folder=$(mktemp -d /tmp/muster-killed.XXXXXX)
export QUICKSTART_DIR=$folder QUICKSTART_BUILD=${top_builddir:?is set by make check} QUICKSTART_SECONDS=100
RANDOM=${MUSTER_TEST_SEED:=$$}
note "MUSTER_TEST_SEED=$MUSTER_TEST_SEED"

# The lab belongs to the quickstart; we only look into it.
has_applied() {
    [[ -e $folder/lab ]] && lab_attach "$(<"$folder/lab")" && [[ -e $LAB_DIR/provider/log ]]
}

wait_randomly() {
    sleep "$((RANDOM % 3)).$((RANDOM % 10))"
}

# kill_service NAME: as hard as it gets, whenever there is one.
kill_service() {
    local pid
    pid=$(cat "$LAB_DIR/$1.pid" 2>/dev/null) || return 0
    lab_exec kill -KILL "$pid" 2>/dev/null || return 0
    note "killed $1"
}

story_is_over() {
    ! [[ -e /proc/$story ]]
}

tell_with_kills() {
    local round victim
    "$top/quickstart" >"$folder.out" 2>&1 </dev/null &
    story=$!
    if lab_wait "the first launch" 120 has_applied; then
        for ((round = 0; round < 4; round++)); do
            wait_randomly
            ! story_is_over || break
            victim=musterd
            ((round != 2)) || victim=slurmctld
            kill_service "$victim"
        done
    fi
    if wait "$story"; then
        pass "$1"
    else
        fail "$1"
        note "$(tail -n 100 "$folder.out")"
    fi
}

trap 'rm -rf "$folder" "$folder.out"' EXIT
tell_with_kills "the story ends well although musterd and slurmctld are killed in it"
tell_with_kills "and once more, at other moments"
check "no more machines are launched than in an undisturbed story" grep -q 'machines launched  *7, and [12] refused' "$folder.out"
tap_end
