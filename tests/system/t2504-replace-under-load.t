#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Nodes are replaced while the group is full of jobs: those on all other nodes run on, the ones on the replaced nodes come
# first, and of a stream of small jobs none is lost or begun twice.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lab.sh"
. "$here/cluster.sh"
. "$here/tap.sh"
trap 'lab_stop' EXIT

nodes=6

start() {
    lab_start
    cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
    cat >"$LAB_DIR/cluster.yaml" <<YAML
cluster: load
providers:
  lab: {type: exec, program: $cluster_provider, list_interval: 2 s}
instance_groups:
  - name: gpu
    partition: gpu
    target_count: $nodes
    min_count: $nodes
    provider: lab
    node: {cpus: 2, memory: 500 MiB, gres: gpu:h100:4}
    settle_time: 1 s
YAML
    cluster_start "$LAB_DIR/programs" /run/lab/cluster.yaml
}

open_is() {
    cluster_group_says gpu '"\(.Status) \(.Open)/\(.TargetCount)"' "$1"
}

machine_of() {
    cluster_slot "$1" .InstanceId
}

has_another_machine() {
    local now
    now=$(machine_of "$1")
    [[ -n $now && $now != "$2" ]]
}

job_is() {
    cluster_job_says "$1" JobState "$2"
}

is_drained() {
    [[ $(cluster_node "$1" State) == *DRAIN* ]]
}

# Small jobs, one after the other, for as long as there is the file. Each says on which node it was begun and that it ended.
stream() {
    local number=0 id
    while [[ -e $LAB_DIR/flowing ]]; do
        number=$((number + 1))
        id=$(cluster_run sbatch --parsable -p gpu -n1 -o /dev/null --wrap "
            echo begun $number \$SLURM_JOB_NODELIST >>/run/lab/small/$number; sleep 0.5
            echo ended $number \$SLURM_JOB_NODELIST >>/run/lab/small/$number") || continue
        echo "$id $number" >>"$LAB_DIR/submitted"
        # No more of them wait than the group can take soon.
        while (($(lab_exec squeue -h -t PENDING -p gpu | wc -l) > nodes)); do sleep 0.2; done
    done
}

small_jobs_ran_on() {
    cat "$LAB_DIR"/small/* | grep "^begun .* $1\$" >/dev/null
}

small_jobs_are_done() {
    [[ -z $(lab_exec squeue -h -p gpu -o %i) ]]
}

# A file for each, with one beginning and one end.
lost_or_repeated() {
    local id number
    while read -r id number; do
        [[ $(cut -d' ' -f1 "$LAB_DIR/small/$number" 2>/dev/null | xargs) == 'begun ended' ]] || echo "job $id"
        cluster_job_says "$id" JobState COMPLETED || echo "job $id: $(cluster_job "$id" JobState)"
    done <"$LAB_DIR/submitted"
}

start
check "a file is applied" cluster_run muster apply -f /run/lab/cluster.yaml
check "all nodes come" lab_wait "six open nodes" 90 open_is "InService $nodes/$nodes"

declare -A long machine
for ((i = 1; i <= nodes; i++)); do
    long[$i]=$(cluster_long_job "long-$i" -p gpu -n1 -w "gpu-$i")
    machine[$i]=$(machine_of "gpu-$i")
done
for ((i = 1; i <= nodes; i++)); do
    check "a long job runs on gpu-$i" lab_wait "the job to run" 30 job_is "${long[$i]}" RUNNING
done
mkdir -m 1777 "$LAB_DIR/small"
: >"$LAB_DIR/flowing"
stream &
stream=$!
check "small jobs run beside it" lab_wait "one on gpu-2" 60 small_jobs_ran_on gpu-2

check "two nodes are to be replaced" cluster_run muster replace --yes 'gpu-[2,5]'
check "gpu-2 is closed to new jobs" lab_wait "a drain" 20 is_drained gpu-2
check "gpu-5, too" lab_wait "a drain" 20 is_drained gpu-5
check "their long jobs run on" job_is "${long[2]}" RUNNING
cluster_end_job long-2
check "gpu-2 gets another machine when its job has ended" lab_wait "it" 90 has_another_machine gpu-2 "${machine[2]}"
check "the job ended well" job_is "${long[2]}" COMPLETED
check "gpu-5 waits for its own" test "$(machine_of gpu-5)" = "${machine[5]}"
check "gpu-2 is open again" lab_wait "it" 90 open_is "InService $((nodes - 1))/$nodes"
waits=$(cluster_run sbatch --parsable -p gpu -w gpu-5 -o /dev/null --wrap true)
job=$(cluster_run sbatch --parsable -p gpu -w gpu-2 -o /dev/null --wrap true)
check "new jobs run on it" lab_wait "one" 30 job_is "$job" COMPLETED
check "and meanwhile none on gpu-5" job_is "$waits" PENDING
cluster_end_job long-5
check "gpu-5 gets another machine, too" lab_wait "it" 90 has_another_machine gpu-5 "${machine[5]}"
check "and the group is complete again" lab_wait "it" 90 open_is "InService $nodes/$nodes"
check "and a job that waited for gpu-5 runs" lab_wait "it" 30 job_is "$waits" COMPLETED

rm "$LAB_DIR/flowing"
wait "$stream"
for i in 1 3 4 6; do
    check "the long job on gpu-$i has run all the time" job_is "${long[$i]}" RUNNING
    check "on its machine" test "$(machine_of "gpu-$i")" = "${machine[$i]}"
    cluster_end_job "long-$i"
done
check "all jobs end" lab_wait "an empty queue" 60 small_jobs_are_done
check "none of the long ones was begun twice" test "$(cat "$LAB_DIR"/jobs/long-[0-9] | grep -c begun)" = $nodes
note "$(wc -l <"$LAB_DIR/submitted") small jobs"
check "no small job was lost or begun twice" test -z "$(lost_or_repeated)"
check "two machines were launched beside the first ones" test "$(cluster_provider_log launched | wc -l)" = $((nodes + 2))
check "none of them twice" test -z "$(cluster_launched_twice)"
if ((tap_failed)); then
    note "$(lost_or_repeated)"
    note "$(cluster_events)"
    note "$(lab_exec scontrol -F -o show node)"
    note "$(tail -n 60 "$LAB_DIR/log/musterd.log")"
fi
tap_end
