#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The state directory's disk is full, or read-only, while a group gathers. Nothing is done that was not written, the gate
# is kept all the same, the words are clear, and it goes on by itself when it can.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lab.sh"
. "$here/cluster.sh"
. "$here/tap.sh"
trap 'lab_stop' EXIT
ledger=/run/lab/muster/ledger.sqlite

start() {
    lab_start
    cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
    # gpu-5's first machine never comes up, so something is due when its time is over.
    cluster_provider_does gpu-5 "boot@1 never"
    cat >"$LAB_DIR/cluster.yaml" <<END
cluster: full
providers:
  local: {type: exec, program: $cluster_provider, list_interval: 2 s}
instance_groups:
  - name: gpu
    partition: gpu
    target_count: 5
    min_count: 5
    provider: local
    node: {cpus: 2, memory: 500 MiB, gres: gpu:h100:4}
    boot_timeout: 40 s
    settle_time: 1 s
END
    sed 's/target_count: 5/target_count: 6/' "$LAB_DIR/cluster.yaml" >"$LAB_DIR/larger.yaml"
    lab_exec mkdir -p /run/lab/muster
    lab_exec mount -t tmpfs -o size=512k state /run/lab/muster
    CLUSTER_SLURM_CONF='MaxNodeCount=32'
    cluster_start "$LAB_DIR/programs" /run/lab/cluster.yaml
}

ready_is() {
    [[ $(cluster_group gpu .Ready) == "$1" ]]
}

# What was changed by the provider, and what it was asked to change.
provider_log() {
    cluster_provider_log 'launched\|terminated\|called launch\|called terminate'
}

problem_is() {
    local problem
    problem=$(cluster_status .LedgerProblem)
    echo "$problem"
    [[ $problem == "$1" ]]
}

role_message_says() {
    local message
    message=$(cluster_status .RoleMessage)
    echo "$message"
    [[ $message == *"$1"* ]]
}

is_closed() {
    lab_exec scontrol -o show node "$1" | grep -q ' State=IDLE+DRAIN'
}

deadline_of() {
    cluster_run muster nodes --json | jq -r ".Nodes[] | select(.Name == \"$1\") | .Deadline // 0 | floor"
}

is_past() {
    (($(date +%s) > $1))
}

# Something takes every byte that comes free.
fill() {
    lab_service_start filler bash -c 'while :; do head -c 16k /dev/zero >>/run/lab/muster/filler 2>/dev/null || :; sleep 0.1; done'
}

make_room() {
    lab_service_hold filler
    cluster_kill filler
    lab_exec rm /run/lab/muster/filler
}

no_sql() {
    ! grep -E 'INSERT|UPDATE|DELETE|SELECT|BEGIN|COMMIT|PRAGMA'
}

restart_musterd() {
    local pid
    pid=$(lab_service_pid musterd)
    cluster_kill musterd
    lab_wait "another musterd" 20 is_another_musterd "$pid"
    lab_wait "musterd to answer" 20 cluster_run muster status --json
}

is_another_musterd() {
    [[ $(lab_service_pid musterd) != "$1" ]]
}

facts_about_a_full_disk() {
    local before deadline
    before=$(provider_log)
    deadline=$(deadline_of gpu-5)
    fill
    lab_wait "the disk to be full" 10 lab_exec bash -c '! head -c 1 /dev/zero >/run/lab/muster/one 2>/dev/null'
    lab_exec scontrol update nodename=gpu-1 state=RESUME
    check "a gathering node that an admin opens is closed though the disk is full" lab_wait "gpu-1" 5 is_closed gpu-1
    check "muster status says what is wrong" lab_wait "its words" 10 \
        problem_is "$ledger cannot be written: the file system is full"
    check "and that it is told as one line" grep -qx \
        "nothing new is done: $ledger cannot be written: the file system is full; it goes on by itself" \
        < <(cluster_run muster status)
    check "a new file is not taken" grep -q "so nothing was changed: $ledger cannot be written: the file system is full" \
        < <(cluster_run muster apply -f /run/lab/larger.yaml 2>&1)
    lab_wait "the deadline of gpu-5's machine to pass" 40 is_past "$((deadline + 2))"
    check "nothing is launched or ended that cannot be written" test "$(provider_log)" = "$before"
    check "the log is as clear" grep -q "ledger_write.*the file system is full; nothing is done until it can be written" \
        "$LAB_DIR/log/musterd.log"
}

facts_about_a_start_on_a_full_disk() {
    local before
    before=$(provider_log)
    restart_musterd
    check "a musterd that starts on a full disk shows what the ledger has" ready_is 4
    check "and why it does not act" lab_wait "its words" 10 \
        role_message_says "cannot be taken over: $ledger cannot be written: the file system is full"
    refute "it takes no command" cluster_run muster open gpu --yes
    lab_exec scontrol update nodename=gpu-1 state=RESUME
    check "it keeps the gate" lab_wait "gpu-1" 5 is_closed gpu-1
    check "and launches nothing" test "$(provider_log)" = "$before"
}

facts_about_a_read_only_disk() {
    local before
    lab_service_hold musterd
    cluster_kill musterd
    make_room
    lab_wait "the file system to be let go" 10 lab_exec mount -o remount,ro /run/lab/muster
    before=$(provider_log)
    lab_service_go musterd
    check "a musterd starts in a read-only state directory" lab_wait "musterd" 20 ready_is 4
    check "and says so" lab_wait "its words" 10 role_message_says "cannot be written: the file system is read-only"
    check "and launches nothing" test "$(provider_log)" = "$before"
}

facts_about_going_on() {
    lab_exec mount -o remount,rw /run/lab/muster
    check "when it can write again it goes on by itself: gpu-5 is replaced and the group opens" \
        lab_wait "five nodes" 120 ready_is 5
    check "the trouble is over" problem_is ""
    check "each machine was launched once" test "$(cluster_provider_log launched | wc -l)" = 6
    # A file system that turns read-only under a running musterd: the file is open, its journal cannot be made.
    lab_exec mount --bind /run/lab/muster /run/lab/muster
    lab_exec mount -o remount,bind,ro /run/lab/muster
    lab_exec scontrol update nodename=gpu-1 state=DRAIN reason=fan
    check "a read-only file system under a running musterd is told" lab_wait "its words" 10 \
        problem_is "$ledger cannot be written: the file system is read-only"
    lab_exec umount /run/lab/muster
    check "and over when it is over" lab_wait "no trouble" 10 problem_is ""
    check "no word of it was SQL" no_sql <"$LAB_DIR/log/musterd.log"
}

start
check "a file is applied" cluster_run muster apply -f /run/lab/cluster.yaml
check "four of five nodes become ready, and stay closed" lab_wait "four ready nodes" 60 ready_is 4
facts_about_a_full_disk
facts_about_a_start_on_a_full_disk
facts_about_a_read_only_disk
facts_about_going_on
if ((tap_failed)); then
    note "$(provider_log)"
    note "$(cluster_events)"
    note "$(tail -n 60 "$LAB_DIR/log/musterd.log")"
fi
tap_end
