#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A primary and a backup controller with a musterd each, and their state on storage that both see. The one beside the
# slurmctld in control acts. A take-over in the middle of a scale-up loses nothing and launches nothing twice, and one that
# was stopped, or cut off, and wakes up after it changes nothing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lab.sh"
. "$here/cluster.sh"
. "$here/tap.sh"
trap 'lab_stop' EXIT

# on_head2 COMMAND...: as cluster_run does on head.
on_head2() {
    lab_on head2 env --chdir="$cluster_top" PATH="$LAB_DIR/installed/bin:$LAB_DIR/installed/sbin:/usr/sbin:/usr/bin:/sbin:/bin" \
        "$@" </dev/null
}

head2_status() {
    on_head2 muster status --json 2>/dev/null | jq -r "$1"
}

status_is() {
    local value
    value=$("$1" "$2")
    echo "$value"
    [[ $value == "$3" ]]
}

acts() {
    if [[ $1 == head ]]; then
        status_is cluster_status .Role acting
    else
        status_is head2_status .Role acting
    fi
}

start() {
    lab_start
    cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
    cat >"$LAB_DIR/first.yaml" <<END
cluster: two
providers:
  cloud: {type: exec, program: $here/cloud, list_interval: 2 s, max_launches: 2}
instance_groups:
  - {name: one, partition: one, target_count: 4, min_count: 4, provider: cloud, node: {cpus: 2, memory: 500 MiB}, settle_time: 1 s}
END
    cp "$LAB_DIR/first.yaml" "$LAB_DIR/both.yaml"
    cat >>"$LAB_DIR/both.yaml" <<END
  - {name: two, partition: two, target_count: 4, min_count: 4, provider: cloud, node: {cpus: 2, memory: 500 MiB}, settle_time: 1 s}
END
    CLUSTER_SLURM_CONF='SlurmctldHost=head(10.77.0.1)
SlurmctldHost=head2(10.77.0.2)
SlurmctldTimeout=4
MaxNodeCount=32'
    CLUSTER_SERVERS='["http://10.77.0.1:6820", "http://10.77.0.2:6820"]'
    lab_exec bash -c 'echo "10.77.0.2 head2" >>/etc/hosts'
    lab_service_start cloud "$here/cloud" serve
    cluster_provider_does all "launch slow 1" "boot 2"
    lab_head_start head2 10.77.0.2
    cluster_start "$LAB_DIR/programs" /run/lab/both.yaml
    lab_on head2 /run/lab/lab-inside supervise slurmctld-head2 slurmctld -D
    lab_on head2 /run/lab/lab-inside supervise musterd-head2 \
        env PATH="$LAB_DIR/programs/bin:$LAB_DIR/programs/sbin:/usr/sbin:/usr/bin:/sbin:/bin" "$LAB_DIR/programs/sbin/musterd"
    lab_wait "the second musterd to look on" 20 status_is head2_status .Role standby
}

at_least_launched() {
    (($(cluster_provider_log launched | wc -l) >= $1))
}

# N machines were launched, each for another node, and none for a token that had one.
launched_once_each() {
    cluster_provider_log launched
    [[ $(cluster_provider_log launched | wc -l) == "$1" && -z $(cluster_launched_twice) ]]
}

# group_is_open STATUS GROUP: complete and open, as STATUS has it.
group_is_open() {
    "$1" ".Groups[] | select(.Name == \"$2\") | .GateOpen, .Ready, .Open" | tr '\n' ' ' | grep -qx 'true 4 4 '
}

# What musterd on HEAD asked of the cloud that changes something.
asked_by() {
    grep -c "^$1 \(launch\|terminate\) " "$LAB_DIR/cloud/log" || :
}

# How often musterd of SERVICE has taken the ledger over.
takeovers() {
    grep -c 'event=acting' "$LAB_DIR/log/$1.log"
}

log_says() {
    grep -q "$2" "$LAB_DIR/log/$1.log"
}

slurmctld_stays_dead() {
    lab_service_hold slurmctld
    cluster_kill slurmctld
}

facts_about_standby() {
    check "the one beside the primary acts" acts head
    check "the other says whose musterd acts" \
        status_is head2_status .RoleMessage 'musterd on head2 is on standby; musterd on head acts'
    refute "and takes no command" on_head2 muster apply -f /run/lab/first.yaml
    check "but says whom to ask" grep -q 'musterd on head acts' < <(on_head2 muster apply -f /run/lab/first.yaml 2>&1 || :)
}

facts_about_killing() {
    check "a file is applied" cluster_run muster apply -f /run/lab/first.yaml
    lab_wait "the first launches" 20 at_least_launched 2
    lab_service_hold musterd
    slurmctld_stays_dead
    cluster_kill musterd
    check "when the primary is killed, the musterd beside the backup takes over" lab_wait "head2 to act" 40 acts head2
    check "and completes the group" lab_wait "the group on head2" 60 group_is_open head2_status one
    check "no machine was launched twice, and none for nothing" launched_once_each 4
    check "both have launched" test "$(asked_by head2)" -gt 0
    check "an event tells who acts now" grep -q 'HeadTookOver.*musterd on head2 acts' < <(on_head2 muster events)
}

facts_about_coming_back() {
    lab_service_go slurmctld
    lab_service_go musterd
    check "when the primary is back, the musterd beside it acts again" lab_wait "head to act" 30 acts head
    check "and the other looks on" lab_wait "head2 to stand by" 20 status_is head2_status .Role standby
    check "the group is as it was" group_is_open cluster_status one
}

facts_about_waking_up() {
    local asked takeovers
    check "a second group is applied" cluster_run muster apply -f /run/lab/both.yaml
    lab_wait "its first launches" 20 at_least_launched 6
    asked=$(asked_by head)
    lab_exec kill -STOP "$(lab_service_pid musterd)"
    slurmctld_stays_dead
    check "when the acting one is stopped and its slurmctld is killed, the other takes over" lab_wait "head2 to act" 40 acts head2
    check "and completes the second group" lab_wait "the group on head2" 60 group_is_open head2_status two
    takeovers=$(takeovers musterd)
    lab_exec kill -CONT "$(lab_service_pid musterd)"
    check "the stopped one wakes up, and looks on" lab_wait "head to stand by" 20 status_is cluster_status .Role standby
    check "it says why" log_says musterd 'stands_by.*musterd on head2 has taken the ledger over'
    check "it has asked the provider for nothing more" test "$(asked_by head)" -le "$((asked + 2))"
    check "and has not taken the ledger back" test "$(takeovers musterd)" = "$takeovers"
    check "no machine was launched twice, and none for nothing" launched_once_each 8
}

facts_about_being_cut_off() {
    local takeovers
    takeovers=$(takeovers musterd-head2)
    lab_machine_cut head2
    lab_service_go slurmctld
    check "while the backup is cut off, the primary's musterd acts" lab_wait "head to act" 40 acts head
    check "the one that is cut off looks on, though the slurmctld beside it believes to be in control" \
        lab_wait "head2 to stand by" 20 status_is head2_status .Role standby
    check "and says so" lab_wait "its words" 20 log_says musterd-head2 'is head2 cut off?'
    check "it does not take the ledger back" test "$(takeovers musterd-head2)" = "$takeovers"
    check "and head acts on" acts head
    check "no machine was launched for it" launched_once_each 8
}

start
facts_about_standby
facts_about_killing
facts_about_coming_back
facts_about_waking_up
facts_about_being_cut_off
if ((tap_failed)); then
    note "$(cat "$LAB_DIR/cloud/log")"
    note "$(cat "$LAB_DIR/provider/log")"
    note "$(tail -n 40 "$LAB_DIR"/log/musterd*.log "$LAB_DIR"/log/slurmctld*.log)"
fi
tap_end
