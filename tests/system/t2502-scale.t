#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Groups that grow and shrink under jobs: who goes and when, what becomes of records and names, what belongs to others, and
# what an admin asks for by a node's reason.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lab.sh"
. "$here/cluster.sh"
. "$here/tap.sh"
trap 'lab_stop' EXIT

start() {
    lab_start
    cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
    cat >"$LAB_DIR/cluster.yaml" <<YAML
cluster: scale
providers:
  lab: {type: exec, program: $cluster_provider, list_interval: 2 s}
instance_groups:
  - name: gpu
    partition: gpu
    target_count: 2
    provider: lab
    node: {cpus: 2, memory: 500 MiB, gres: gpu:h100:4}
    settle_time: 1 s
    prune_after: 10 s
  - name: asks
    partition: asks
    target_count: 7
    provider: lab
    node: {cpus: 2, memory: 100 MiB}
    settle_time: 1 s
  - name: hasty
    partition: hasty
    target_count: 1
    provider: lab
    node: {cpus: 1, memory: 100 MiB}
    settle_time: 1 s
    drain_timeout: 3 s
    prune_after: 1 s
YAML
    CLUSTER_SLURM_CONF='MaxNodeCount=32'
    cluster_start "$LAB_DIR/programs" /run/lab/cluster.yaml
}

open_is() {
    cluster_group_says "$1" '"\(.Open)/\(.TargetCount)"' "$2"
}

has_machine() {
    [[ -n $(cluster_machine "$1") ]]
}

has_no_machine() {
    [[ -z $(cluster_machine "$1") ]]
}

other_machine() {
    local now
    now=$(cluster_machine "$1")
    [[ -n $now && $now != "$2" ]]
}

records_are() {
    [[ $(cluster_records "$1") == "$2" ]]
}

is_drained() {
    [[ $(cluster_node "$1" State) == *DRAIN* ]]
}

job_runs_on() {
    cluster_job_says "$1" JobState RUNNING && cluster_job_says "$1" NodeList "$2"
}

job_is_done() {
    cluster_job_says "$1" JobState COMPLETED && cluster_job_says "$1" Restarts 0
}

five_hosts() {
    [[ $(sort -u "$LAB_DIR/five" | wc -l) == 5 ]]
}

has_event() {
    cluster_events | grep -E "$1" >/dev/null
}

# One at a time, so that it is known which is the newest.
facts_about_growing() {
    local slurmctld
    slurmctld=$(lab_service_pid slurmctld)
    first=$(cluster_long_job first -p gpu -w gpu-1)
    check "a job runs on the first node" lab_wait "the job to run" 30 job_runs_on "$first" gpu-1
    check "the target is raised" cluster_run muster scale gpu 3
    lab_wait "a machine" 30 has_machine gpu-3
    check "and again before the node is there" cluster_run muster scale gpu 4
    lab_wait "a machine" 30 has_machine gpu-4
    check "and by a number" cluster_run muster add gpu 1
    check "a job for as many nodes is accepted soon" \
        lab_wait "sbatch" 20 cluster_run sbatch -J five -p gpu -N5 -n5 --gres=gpu:4 -o /run/lab/five --wrap 'srun hostname'
    check "the group grows" lab_wait "five open nodes" 60 open_is gpu 5/5
    check "the job for all of them has run" lab_wait "five hosts" 30 five_hosts
    check "the job on the first node runs on" job_runs_on "$first" gpu-1
    check "slurmctld was not restarted" test "$(lab_service_pid slurmctld)" = "$slurmctld"
}

facts_about_shrinking() {
    local second third kept
    second=$(cluster_long_job second -p gpu -w gpu-2)
    third=$(cluster_long_job third -p gpu -w gpu-3)
    lab_wait "the job to run" 20 job_runs_on "$second" gpu-2
    lab_wait "the job to run" 20 job_runs_on "$third" gpu-3
    # Nobody may take the record away that a job asks for.
    kept=$(cluster_run sbatch --parsable -H -p gpu -w gpu-4 -o /dev/null --wrap true)
    check "the target is lowered by one" cluster_run muster scale gpu 4
    check "the newest of the idle nodes goes" lab_wait "gpu-5 to go" 30 has_no_machine gpu-5
    check "and no other" has_machine gpu-4
    check "the target is lowered to two" cluster_run muster scale gpu 2
    check "the other idle node goes" lab_wait "gpu-4 to go" 30 has_no_machine gpu-4
    check "of the busy ones the newest is closed to new jobs" lab_wait "a drain" 20 is_drained gpu-3
    check "and says why" cluster_slot_says gpu-3 .Reason 'muster: to be removed (the target is lower)'
    check "but keeps its machine" has_machine gpu-3
    check "since its job runs on" job_runs_on "$third" gpu-3
    refute "an older busy node is left alone" is_drained gpu-2
    cluster_end_job third
    check "the job ends well" lab_wait "the job to end" 20 job_is_done "$third"
    check "and then the machine goes" lab_wait "gpu-3 to go" 30 has_no_machine gpu-3
    check "records of departed nodes are deleted after a while" lab_wait "pruning" 60 records_are gpu- 'gpu-1 gpu-2 gpu-4'
    lab_exec scancel "$kept"
    check "one that a job asked for when that job is gone" lab_wait "pruning" 30 records_are gpu- 'gpu-1 gpu-2'

    check "a busy node is removed by name" cluster_run muster remove --yes gpu-1
    check "which lowers the target" cluster_group_says gpu .TargetCount 1
    check "it is closed to new jobs" lab_wait "a drain" 20 is_drained gpu-1
    check "and its job runs on" job_runs_on "$first" gpu-1
    cluster_end_job first
    check "the job ends well" lab_wait "the job to end" 20 job_is_done "$first"
    check "and then the machine goes" lab_wait "gpu-1 to go" 30 has_no_machine gpu-1
    cluster_end_job second
    check "the job on the node that stays ends well, too" lab_wait "the job to end" 20 job_is_done "$second"
    check "no job was begun twice" test "$(cat "$LAB_DIR"/jobs/{first,second,third} | grep -c begun)" = 3
}

facts_about_names() {
    check "a departed node's record is deleted" lab_wait "pruning" 60 records_are gpu- gpu-2
    check "the group grows again" cluster_run muster scale gpu 3
    check "the old names come back" lab_wait "three open nodes" 60 open_is gpu 3/3
    check "and no others" records_are gpu- 'gpu-1 gpu-2 gpu-3'
    cluster_run sbatch -W -p gpu -N2 -n2 -w gpu-[1,3] --gres=gpu:4 -o /run/lab/again --wrap 'srun hostname' >/dev/null || :
    check "jobs run on them" test "$(sort "$LAB_DIR/again" | xargs)" = 'gpu-1 gpu-3'
}

facts_about_what_belongs_to_others() {
    lab_exec scontrol update nodename=gpu-3 state=drain reason='bad fan'
    lab_exec scontrol create reservation reservationname=upkeep nodes=gpu-2 starttime=now duration=60 users=root >/dev/null
    check "an admin's drain is seen" lab_wait "it" 20 cluster_slot_says gpu-3 .DrainedByOther 'bad fan'
    check "the target is lowered below what may be taken" cluster_run muster scale gpu 1
    check "the only node that is nobody's goes" lab_wait "gpu-1 to go" 30 has_no_machine gpu-1
    # A look of its own, with everything settled: nothing more is done.
    check "and nothing else happens" lab_wait "a quiet plan" 20 nothing_is_planned
    check "a node that an admin drained is left" has_machine gpu-3
    check "and one that is reserved" has_machine gpu-2
    check "by name it may be removed" cluster_run muster remove --yes gpu-3
    check "and goes" lab_wait "gpu-3 to go" 30 has_no_machine gpu-3
    check "the target stays, since there were more than that" cluster_group_says gpu .TargetCount 1
    check "none is wanted any more" cluster_run muster scale gpu 0
    check "the reserved one stays for as long as it is reserved" has_machine gpu-2
    lab_exec scontrol delete reservation=upkeep
    check "and goes afterwards" lab_wait "gpu-2 to go" 30 has_no_machine gpu-2
}

nothing_is_planned() {
    [[ $(cluster_run muster plan --json | jq '.Actions | length') == 0 ]]
}

# Reasons in the spellings that people use, in each state in which they use them.
ask() {
    cluster_machine "asks-$1" >"$LAB_DIR/asks-$1"
    lab_exec scontrol update nodename="asks-$1" state="$2" reason="$3"
}

replaced() {
    check "$2" lab_wait "another machine" 60 other_machine "asks-$1" "$(cat "$LAB_DIR/asks-$1")"
}

rebooted() {
    check "$2" lab_wait "a reboot" 60 has_rebooted "asks-$1" "$(cat "$LAB_DIR/asks-$1")"
}

has_rebooted() {
    cluster_provider_log "rebooted $1 $2" | grep . >/dev/null
}

same_machine() {
    [[ $(cluster_machine "asks-$1") == "$(cat "$LAB_DIR/asks-$1")" ]]
}

open_again() {
    cluster_slot_says "asks-$1" .Step in-service && [[ $(cluster_node "asks-$1" State) == IDLE ]]
}

ask_by_reason() {
    busy=$(cluster_long_job busy -p asks -w asks-1)
    lab_wait "the job to run" 30 job_runs_on "$busy" asks-1
    ask 1 drain 'action: replace'
    ask 2 drain 'ACTION:REBOOT'
    ask 3 fail 'Action:Replace'
    ask 4 fail ' action : reboot please'
    ask 5 down 'Action=Replace!'
    ask 6 down 'action_Reboot'
    ask 7 drain 'Action:Repaint'
}

facts_about_reasons() {
    local node
    rebooted 2 "ACTION:REBOOT of a drained node restarts its machine"
    replaced 3 "Action:Replace of a failing node gives it another machine"
    rebooted 4 "a reboot of a failing node is understood with blanks and more words"
    replaced 5 "Action=Replace! of a node that is down gives it another machine"
    rebooted 6 "action_Reboot of a node that is down restarts its machine"
    check "the job on a node that is to be replaced runs on" job_runs_on "$busy" asks-1
    check "on its machine" same_machine 1
    cluster_end_job busy
    check "to its end" lab_wait "the job to end" 20 job_is_done "$busy"
    replaced 1 "and then the node gets another machine"
    for node in 1 2 3 4 5 6; do
        check "asks-$node is open again" lab_wait "it" 60 open_again "$node"
    done
    for node in 2 4 6; do
        check "asks-$node has the machine that it had" same_machine "$node"
    done
    check "an action that nobody knows is refused aloud" has_event 'Error.*asks-7.*ActionNotUnderstood.*Action:Repaint'
    check "and nothing is done" same_machine 7
    check "but the node is left to who drained it" is_drained asks-7
    refute "nobody is blamed for opening a node" has_event 'asks .*NodesClosedAgain'
}

leave_in_haste() {
    stubborn=$(cluster_long_job stubborn -p hasty --no-requeue)
    lab_wait "the job to run" 30 job_runs_on "$stubborn" hasty-1
    check "a node with a job that does not end is removed" cluster_run muster remove --yes hasty-1
}

facts_about_haste() {
    check "its job is not waited for after drain_timeout" has_event 'hasty-1.*DrainTimedOut'
    check "the machine is gone" has_no_machine hasty-1
    check "Slurm notices the job's end" lab_wait "it" 120 cluster_job_says "$stubborn" JobState NODE_FAIL
    check "and the record goes, too" lab_wait "pruning" 60 records_are hasty- ''
}

start
check "a file is applied" cluster_run muster apply -f /run/lab/cluster.yaml
check "all nodes come" lab_wait "seven open nodes" 90 open_is asks 7/7
lab_wait "the others" 60 open_is hasty 1/1
lab_wait "the others" 60 open_is gpu 2/2
leave_in_haste
ask_by_reason
facts_about_growing
facts_about_shrinking
facts_about_names
facts_about_what_belongs_to_others
facts_about_reasons
facts_about_haste
check "no machine was launched twice" test -z "$(cluster_launched_twice)"
if ((tap_failed)); then
    note "$(cluster_events)"
    note "$(lab_exec scontrol -F -o show node)"
    note "$(tail -n 60 "$LAB_DIR/log/musterd.log")"
fi
tap_end
