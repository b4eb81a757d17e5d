#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Thirty machines come by themselves while the provider of another group answers nothing: the groups are independent, and
# no machine is launched twice.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lab.sh"
. "$here/cluster.sh"
. "$here/tap.sh"
trap 'lab_stop' EXIT

start() {
    lab_start
    cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
    cat >"$LAB_DIR/cluster.yaml" <<END
cluster: thirty
providers:
  lab: {type: exec, program: $cluster_provider, list_interval: 2 s}
  # What a call may take is longer than the test: whatever waited for it would wait for ever.
  mute: {type: exec, program: $cluster_provider, list_interval: 2 s, call_timeout: 30 min}
instance_groups:
  - name: mute
    partition: mute
    target_count: 4
    min_count: 4
    provider: mute
    node: {cpus: 1, memory: 100 MiB}
    settle_time: 1 s
  - name: many
    partition: many
    target_count: 30
    min_count: 20
    provider: lab
    node: {cpus: 2, memory: 500 MiB, gres: gpu:h100:4}
    settle_time: 1 s
END
    cluster_provider_does mute 'launch hang' 'list hang'
    cluster_start "$LAB_DIR/programs" /run/lab/cluster.yaml
}

job_has_run() {
    lab_exec scontrol -o show job "$1" | grep -q 'JobState=COMPLETED'
}

job_is_held() {
    [[ $(lab_exec squeue -h -j "$1" -o %r) == JobHeld* ]]
}

group_is() {
    cluster_group_says "$1" '"\(.Status) \(.Ready)/\(.Open)/\(.TargetCount)"' "$2"
}

hosts_in() {
    sort -u "$LAB_DIR/$1" | wc -l
}

opened_with() {
    cluster_events | grep -Eo 'MinCountReached: [0-9]+' | grep -Eo '[0-9]+'
}

each_machine_has_its_own_boot_id() {
    [[ $(cat "$LAB_DIR"/machines/*/boot_id | sort -u | wc -l) == 30 ]]
}

start
check "a file with two groups is applied" cluster_run muster apply -f /run/lab/cluster.yaml
job=$(cluster_run sbatch --parsable -p many -N20 --gres=gpu:4 -o /run/lab/twenty --wrap 'srun hostname')
all=$(cluster_run sbatch --parsable -p many -N30 -o /run/lab/thirty --wrap 'srun hostname')
check "a job for 20 nodes is held" job_is_held "$job"
check "a job for 30 nodes is held" job_is_held "$all"
check "the group becomes InService" lab_wait "the group to be open" 120 cluster_group_says many .GateOpen true
check "it did so with its MinCount and not before" test "$(opened_with)" -ge 20
check "and becomes complete" lab_wait "30 open nodes" 120 group_is many 'InService 30/30/30'
check "the job for 20 nodes runs" lab_wait "the job to run" 30 job_has_run "$job"
check "on 20 nodes" test "$(hosts_in twenty)" = 20
check "the job for 30 nodes runs" lab_wait "the job to run" 30 job_has_run "$all"
check "on 30 nodes" test "$(hosts_in thirty)" = 30
check "meanwhile no call for the other group has been answered" test "$(cluster_provider_log launched mute | wc -l)" = 0
check "though each of its nodes was asked for" test "$(cluster_provider_log called launch mute | wc -l)" -ge 4
check "that group still gathers" group_is mute 'Creating 0/0/4'
check "30 machines were launched" test "$(cluster_provider_log launched | wc -l)" = 30
check "none of them twice" test -z "$(cluster_launched_twice)"
check "each has its own boot id" each_machine_has_its_own_boot_id
if ((tap_failed)); then
    note "$(cluster_events)"
    note "$(lab_exec sinfo -N -l)"
    note "$(tail -n 60 "$LAB_DIR/log/musterd.log")"
fi
tap_end
