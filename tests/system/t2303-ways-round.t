#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Ways round a closed gate: what a user, an admin or a forgetful slurmctld can do while a group gathers. No job may start
# on a gathering node for longer than the one pass that musterd needs to see it, and an event says what happened.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lab.sh"
. "$here/cluster.sh"
. "$here/tap.sh"
trap 'lab_stop' EXIT

as_user() {
    cluster_run setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

node_states() {
    lab_exec scontrol -F -o show node | sed -n 's/NodeName=\([^ ]*\) .* State=\([^ ]*\).*/\1 \2/p'
}

# closed N: N nodes are IDLE+DRAIN, and every other slot is FUTURE+DRAIN.
closed() {
    local states
    states=$(node_states)
    [[ $(grep -c ' IDLE+DRAIN' <<<"$states") == "$1" ]] && [[ $(grep -c ' FUTURE+DRAIN' <<<"$states") == $((5 - $1)) ]] && return
    echo "$states"
    return 1
}

ready_is() {
    [[ $(cluster_group gpu .Ready) == "$1" ]]
}

job_state() {
    lab_exec squeue -h -j "$1" -o %T
}

job_waits() {
    [[ $(job_state "$1") == PENDING ]]
}

job_is_held() {
    [[ $(lab_exec squeue -h -j "$1" -o %r) == JobHeld* ]]
}

job_has_run() {
    lab_exec scontrol -o show job "$1" | grep -q 'JobState=COMPLETED'
}

# event_since NUMBER PATTERN: an event that came after the first NUMBER of them.
event_since() {
    cluster_events | tail -n "+$(($1 + 1))" | grep -Eqi "$2"
}

events_so_far() {
    cluster_events | wc -l
}

start() {
    lab_start
    cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
    # gpu-5's first machine never comes up, so that the group gathers for as long as the test needs.
    cat >"$LAB_DIR/cluster.yaml" <<END
cluster: ways
providers:
  local: {type: exec, program: $cluster_top/conf/quickstart-provider, list_interval: 2 s}
instance_groups:
  - name: gpu
    partition: gpu
    target_count: 5
    min_count: 5
    provider: local
    node: {cpus: 2, memory: 500 MiB, gres: gpu:h100:4}
    boot_timeout: 15 min
    settle_time: 1 s
END
    CLUSTER_SLURM_CONF='MaxNodeCount=32'
    cluster_start "$LAB_DIR/programs" /run/lab/cluster.yaml
}

facts_about_users() {
    check "an ordinary user may look" as_user muster status
    refute "but not open a group" as_user muster open gpu --yes
    refute "and not apply a file" as_user muster apply -f /run/lab/cluster.yaml
    local before
    before=$(events_so_far)
    job=$(as_user sbatch --parsable -p gpu -N5 -o /dev/null --wrap true)
    check "a job for a closed group is held" job_is_held "$job"
    as_user scontrol release "$job" >/dev/null 2>&1 || :
    check "an event says that somebody released it early" \
        lab_wait "an event" 10 event_since "$before" "JobReleasedEarly.*job $job"
    sleep 5
    check "a user's own release does not start it" job_waits "$job"
    check "the nodes stay closed meanwhile" closed 4
}

facts_about_admins() {
    local before
    before=$(events_so_far)
    lab_exec scontrol update nodename=ALL state=RESUME || :
    check "nodes that an admin resumes are closed again" lab_wait "the nodes to be closed" 6 closed 4
    check "an event says so" lab_wait "an event" 5 event_since "$before" 'NodesClosedAgain.*gpu-'
    before=$(events_so_far)
    lab_exec scontrol delete nodename=gpu-1
    check "a record deleted under a running slurmd comes back closed" lab_wait "gpu-1" 40 closed 4
    check "an event says that, too" lab_wait "an event" 5 event_since "$before" 'RecordsLost.*gpu-1'
}

facts_about_slurmctld() {
    local before
    before=$(events_so_far)
    cluster_slurmctld_again -c
    check "after slurmctld -c all slots come back closed" lab_wait "the slots" 60 closed 4
    check "an event says what happened" lab_wait "an event" 5 event_since "$before" 'RecordsLost.*gpu-'
    check "the nodes are ready again" lab_wait "four ready nodes" 30 ready_is 4
    check "and no machine was launched again" test "$(grep -c ' launched ' "$LAB_DIR/provider/log")" = 5
}

facts_about_musterd() {
    local deadline launched
    deadline=$(cluster_group gpu .Deadline)
    launched=$(grep -c ' launched ' "$LAB_DIR/provider/log")
    lab_exec kill -KILL "$(lab_service_pid musterd)"
    check "a musterd that was killed is back and knows the group" lab_wait "musterd" 20 ready_is 4
    check "with the same deadline" test "$(cluster_group gpu .Deadline)" = "$deadline"
    check "and launches nothing again" test "$(grep -c ' launched ' "$LAB_DIR/provider/log")" = "$launched"
}

facts_about_opening() {
    job=$(as_user sbatch --parsable -p gpu -N4 -o /dev/null --wrap true)
    check "a held job for what is there waits" job_waits "$job"
    check "muster open opens the group" cluster_run muster open gpu --yes
    check "and the job runs" lab_wait "the job to run" 20 job_has_run "$job"
}

start
check "a file is applied" cluster_run muster apply -f /run/lab/cluster.yaml
check "four of five nodes become ready, and stay closed" lab_wait "four ready nodes" 60 ready_is 4
facts_about_users
facts_about_admins
facts_about_slurmctld
facts_about_musterd
facts_about_opening
if ((tap_failed)); then
    note "$(cluster_events)"
    note "$(node_states)"
    note "$(tail -n 60 "$LAB_DIR/log/musterd.log")"
fi
tap_end
