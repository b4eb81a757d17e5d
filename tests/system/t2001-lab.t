#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the lab promises to the tests that stand on it: its own everything, and nothing left behind.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lab.sh"
. "$here/tap.sh"
trap 'lab_stop' EXIT

mounts_outside() {
    sort /proc/self/mountinfo | cut -d' ' -f5- | sed 's/ [a-z]*:[0-9]*//'
}

# Processes of any lab name its folder in their arguments.
nobody_names() {
    ! pgrep -f -- "$1" >/dev/null
}

mounts_before=$(mounts_outside)
lab_start
dir=$LAB_DIR
LAB_SLURM_CONF=$LAB_GPU_CONF
lab_slurm_conf
lab_slurmctld_start

check "the head has its own host name" test "$(lab_exec hostname)" = head
check "the head has its own network" test "$(lab_exec ip -br -4 address show br0 | tr -s ' ' | cut -d' ' -f3)" = 10.77.0.1/16
check "the lab's munge works" lab_exec bash -c 'munge -n | unmunge'
check "configuration written in the lab is not seen outside" bash -c '! grep -q ClusterName=lab /etc/slurm/slurm.conf'

lab_machine_start one 10.77.1.1 sleep 1000
lab_machine_start two 10.77.1.2 sleep 1001
check "a machine has its own host name" test "$(lab_on one hostname)" = one
check "a machine has its own address" lab_on one ip -4 address show eth0
check "a machine has its own processes" test "$(lab_on one ps -e -o comm= | grep -c sleep)" -le 2
check "a machine reaches the head" lab_on one bash -c 'exec 3<>/dev/tcp/10.77.0.1/6817'
check "a machine has its own /run" lab_on one bash -c ': >/run/mine && ! [[ -e /run/slurmctld.pid ]]'
refute "which another machine does not see" lab_on two test -e /run/mine
check "machines share the head's munge" lab_on two bash -c 'munge -n | unmunge'
check "a machine has fake GPUs" lab_on one test -c /dev/fakegpu3
refute "a machine's name cannot be taken twice" lab_machine_start one 10.77.1.3 sleep 1000
lab_machine_cut one
refute "a machine whose cable is out does not reach the head" \
    lab_on one timeout 1 bash -c 'exec 3<>/dev/tcp/10.77.0.1/6817'
lab_machine_mend one
check "and does when it is in again" lab_on one timeout 5 bash -c 'exec 3<>/dev/tcp/10.77.0.1/6817'
boot_id() {
    lab_on "$1" cat /proc/sys/kernel/random/boot_id
}
first_boot=$(boot_id one)
check "a machine has its own boot id" test "$first_boot" != "$(boot_id two)"
lab_machine_kill one
refute "a killed machine has no process left" lab_exec pgrep -f 'sleep 1000'
check "and another one lives on" lab_exec pgrep -f 'sleep 1001'
lab_machine_start one 10.77.1.1 sleep 1002
check "a killed machine can be started again" test "$(lab_on one hostname)" = one
check "with another boot id" test "$(boot_id one)" != "$first_boot"

lab_stop
check "a stopped lab leaves no process" lab_wait "nothing to be left" 5 nobody_names "$dir"
refute "a stopped lab leaves no folder" test -e "$dir"
check "a lab leaves no mount" test "$(mounts_outside)" = "$mounts_before"

# The caller of this second lab gets no chance to clean up.
coproc CALLER { exec bash -c '. "$1/lab.sh"; lab_start; lab_machine_start one 10.77.1.1 sleep 1003; echo "$LAB_DIR"
    read -r' caller "$here"; }
read -r second <&"${CALLER[0]}"
disown "$CALLER_PID"
kill -KILL "$CALLER_PID"
check "a lab whose caller is killed goes with it" lab_wait "nothing to be left" 10 nobody_names "$second"
rm -rf "$second"
tap_end
