#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# MinCount on a real Slurm: changed while a group gathers, raised on a group that is open, missed by a new group and by an
# old one, and as a floor. Machines come when the test lets them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lab.sh"
. "$here/cluster.sh"
. "$here/tap.sh"
trap 'lab_stop' EXIT

group_of_file() {
    cat <<YAML
  - name: $1
    partition: $1
    target_count: $2
    min_count: $3
    provider: lab
    node: {cpus: 2, memory: 100 MiB}
    settle_time: 500 ms
    prune_after: 1 s
    deadline: $4
    ${5-}
YAML
}

start() {
    lab_start
    cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
    {
        cat <<YAML
cluster: minimum
providers:
  lab: {type: exec, program: $cluster_provider, list_interval: 2 s}
instance_groups:
YAML
        group_of_file turn 3 3 '1 h'
        group_of_file new 2 2 '20 s'
        group_of_file old 1 0 '20 s'
        group_of_file floor 2 2 '1 h' 'gate: floor'
    } >"$LAB_DIR/cluster.yaml"
    for node in turn-3 turn-4 new-2 old-3 old-4; do
        cluster_provider_does "$node" 'boot hold'
    done
    CLUSTER_SLURM_CONF='MaxNodeCount=32'
    cluster_start "$LAB_DIR/programs" /run/lab/cluster.yaml
}

group_is() {
    cluster_group_says "$1" '"\(.Status) \(.Ready)/\(.Open)/\(.TargetCount) min \(.MinCount)"' "$2"
}

deadline_of() {
    cluster_group "$1" .Deadline
}

is_open() {
    [[ $(cluster_node "$1" State) =~ ^(IDLE|MIXED|ALLOCATED)$ ]]
}

is_closed() {
    [[ $(cluster_node "$1" State) == IDLE+DRAIN* ]]
}

job_is() {
    cluster_job_says "$1" JobState "$2"
}

job_is_held() {
    [[ $(lab_exec squeue -h -j "$1" -o %r) == JobHeld* ]]
}

machines_of() {
    cluster_machines "select(.group == \"$1\") | .node_name" | xargs
}

machines_are() {
    [[ $(machines_of "$1") == "$2" ]]
}

records_are() {
    [[ $(cluster_records "$1") == "$2" ]]
}

has_event() {
    cluster_events | grep -E "$1" >/dev/null
}

quick_job() {
    cluster_run sbatch --parsable -o /dev/null "$@" --wrap true
}

# In a partition that no group guards, so that only the node's own state can keep it.
eager_job() {
    cluster_run sbatch --parsable -p all -w "$1" -o /dev/null --wrap true
}

facts_about_gathering() {
    local job before
    lab_wait "two of three" 60 group_is turn 'Creating 2/0/3 min 3'
    job=$(quick_job -p turn -N2)
    check "a job for the two nodes that are ready is held" job_is_held "$job"
    before=$(deadline_of turn)
    cluster_run muster scale turn 4 >/dev/null
    check "a target that is raised while the group gathers leaves the deadline" test "$(deadline_of turn)" = "$before"
    lab_wait "the fourth slot" 20 records_are turn- 'turn-1 turn-2 turn-3 turn-4'
    cluster_run muster scale turn --min 4 >/dev/null
    check "a MinCount that is raised gives it anew" test "$(deadline_of turn)" != "$before"
    check "and the group gathers on" group_is turn 'Creating 2/0/4 min 4'
    refute "numbers are not added meanwhile" cluster_run muster add turn 1
    refute "and nodes are not removed" cluster_run muster remove --yes turn-1
    check "its nodes are still closed" is_closed turn-1
    check "the job is still held" job_is_held "$job"
    cluster_run muster scale turn --min 2 >/dev/null
    check "a MinCount that is lowered to what is ready opens the group" \
        lab_wait "it to open" 20 group_is turn 'InService 2/2/4 min 2'
    check "and the job runs" lab_wait "the job to run" 30 job_is "$job" COMPLETED
}

facts_about_updating() {
    local long job
    long=$(cluster_long_job long -p turn -N2)
    lab_wait "the job to run" 20 job_is "$long" RUNNING
    cluster_run muster scale turn 5 --min 4 >/dev/null
    check "a MinCount above what is ready makes an open group Updating" group_is turn 'Updating 2/2/5 min 4'
    check "the job on its nodes runs on" job_is "$long" RUNNING
    lab_wait "the fifth node" 60 group_is turn 'Updating 3/2/5 min 4'
    check "a node that becomes ready meanwhile stays closed" is_closed turn-5
    check "also to those who do not ask muster" test "$(cluster_job "$(eager_job turn-5)" JobState)" = PENDING
    cluster_end_job long
    lab_wait "the job to end" 20 job_is "$long" COMPLETED
    job=$(quick_job -p turn -N2 -w 'turn-[1-2]')
    check "nodes that were open take new jobs" lab_wait "the job to run" 30 job_is "$job" COMPLETED
    job=$(quick_job -p turn -N4)
    check "a job for more than those is held" job_is_held "$job"
    check "all that while the new node stays closed" is_closed turn-5
    cluster_provider_does turn-3
    check "when MinCount are ready the group is InService" lab_wait "it" 60 group_is turn 'InService 4/4/5 min 4'
    check "and the new ones are open" lab_wait "turn-5" 10 is_open turn-5
    check "and the job runs" lab_wait "the job to run" 30 job_is "$job" COMPLETED
    cluster_provider_does turn-4
    check "a node that comes later is opened as it comes" lab_wait "it" 60 group_is turn 'InService 5/5/5 min 4'
}

facts_about_a_new_group() {
    check "a new group whose deadline passes is rolled back to nothing" \
        lab_wait "the rollback" 90 group_is new 'InService 0/0/0 min 0'
    check "an event says why" has_event 'Error.*new.*RollbackStarted.*of 2 nodes ready at the deadline.*to target 0, MinCount 0'
    check "its machines are ended" lab_wait "them to go" 60 machines_are new ''
    check "and its records deleted, but for one that a job asks for" lab_wait "pruning" 60 records_are new- new-1
    check "no job ever ran there" test "$(cluster_job "$eager" JobState)" = PENDING
    check "status says so" test -n "$(cluster_group new .RolledBack)"
    cluster_provider_does new-2
    cluster_run muster scale new 2 --min 2 >/dev/null
    check "the next request begins anew" test -z "$(cluster_group new .RolledBack)"
    check "and gets its nodes" lab_wait "them" 60 group_is new 'InService 2/2/2 min 2'
}

# Gathering for all its deadline while the test looks at other things.
raise_the_old_group() {
    lab_wait "the old group" 60 group_is old 'InService 1/1/1 min 0'
    old_job=$(cluster_long_job old -p old -w old-1)
    lab_wait "the job to run" 20 job_is "$old_job" RUNNING
    check "an old group asks for more than it gets" cluster_run muster scale old 4 --min 3
    check "and waits" group_is old 'Updating 1/1/4 min 3'
}

facts_about_an_old_group() {
    check "an old group whose deadline passes returns to the counts of its last InService" \
        lab_wait "the rollback" 90 group_is old 'InService 1/1/1 min 0'
    check "an event says why" has_event 'Error.*old.*RollbackStarted.*at the deadline.*from target 4, MinCount 3 to target 1, MinCount 0'
    check "the newer machines are ended" lab_wait "them to go" 60 machines_are old old-1
    check "their records, too" lab_wait "pruning" 60 records_are old- old-1
    check "the job on the old node ran on through all of it" job_is "$old_job" RUNNING
    cluster_end_job old
    check "to its end" lab_wait "the job to end" 20 job_is "$old_job" COMPLETED
    check "and was begun once" test "$(grep -c begun "$LAB_DIR/jobs/old")" = 1
}

facts_about_a_floor() {
    local long job
    lab_wait "the group" 60 group_is floor 'InService 2/2/2 min 2'
    long=$(cluster_long_job long-floor -p floor -w floor-1)
    lab_wait "the job to run" 20 job_is "$long" RUNNING
    lab_exec scontrol update nodename=floor-2 state=drain reason='smells of smoke'
    check "with gate: floor a group that loses a node is closed" lab_wait "it" 20 group_is floor 'Degraded 1/0/2 min 2'
    check "what runs goes on" job_is "$long" RUNNING
    job=$(quick_job -p floor)
    check "a new job is held" job_is_held "$job"
    check "and would not start" test "$(cluster_job "$(eager_job floor-1)" JobState)" = PENDING
    lab_exec scontrol update nodename=floor-2 state=resume
    check "it opens again when the node is back" lab_wait "it" 30 group_is floor 'InService 2/2/2 min 2'
    check "and the job runs" lab_wait "the job to run" 30 job_is "$job" COMPLETED
    check "the first one has run all the time" job_is "$long" RUNNING
    cluster_end_job long-floor
}

start
check "a file is applied" cluster_run muster apply -f /run/lab/cluster.yaml
lab_wait "records" 20 records_are new- 'new-1 new-2'
eager=$(eager_job new-1)
raise_the_old_group
facts_about_gathering
facts_about_updating
facts_about_a_floor
facts_about_a_new_group
facts_about_an_old_group
refute "nobody is blamed for opening a node" has_event NodesClosedAgain
check "no machine was launched twice" test -z "$(cluster_launched_twice)"
if ((tap_failed)); then
    note "$(cluster_events)"
    note "$(lab_exec scontrol -F -o show node)"
    note "$(tail -n 60 "$LAB_DIR/log/musterd.log")"
fi
tap_end
