#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Worlds in which other tools have lost nodes or jobs: lists that lie, two machines with one identity, addresses that
# change hands, devices that come late, machines that restart by themselves, records that nobody expects.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lab.sh"
. "$here/cluster.sh"
. "$here/tap.sh"
trap 'lab_stop' EXIT

# group NAME COUNT [NODE-KEYS]
group() {
    cat <<YAML
  - name: $1
    partition: $1
    target_count: $2
    provider: lab
    node: {cpus: 1, memory: 100 MiB${3:+, $3}}
    settle_time: 500 ms
YAML
}

start() {
    lab_start
    cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
    {
        cat <<YAML
cluster: odd
providers:
  lab: {type: exec, program: $cluster_provider, list_interval: 2 s}
instance_groups:
YAML
        group lies 4
        group twins 1
        group swap 2
        group late 1 'gres: gpu:h100:4'
        group power 1
    } >"$LAB_DIR/cluster.yaml"
    CLUSTER_SLURM_CONF='MaxNodeCount=32'
    cluster_provider_does late-1 'boot hold'
    cluster_start "$LAB_DIR/programs" /run/lab/cluster.yaml
    lab_exec scontrol create NodeName=else-1 CPUs=1 RealMemory=100 NodeAddr=192.0.2.1 State=FUTURE >/dev/null
    lab_exec scontrol update nodename=else-1 state=drain reason="$odd_reason"
}

odd_reason='a=b "c=d" {e: [f]}, \n # State=IDLE'

open_is() {
    cluster_group_says "$1" '"\(.Open)/\(.TargetCount)"' "$2"
}

has_event() {
    cluster_events | grep -E "$1" >/dev/null
}

machines_of() {
    cluster_machines "select(.group == \"$1\") | .instance_id" | xargs
}

# boot_id_of_job NODE: that of the machine on which a job for NODE really runs.
boot_id_of_job() {
    cluster_run srun -p all -w "$1" cat /proc/sys/kernel/random/boot_id
}

runs_on_its_own_machine() {
    [[ $(boot_id_of_job "$1") == "$(cat "$LAB_DIR/machines/$(cluster_machine "$1")/boot_id")" ]]
}

facts_about_lists() {
    local before node
    before=$(machines_of lies)
    cluster_provider_does lies-1 'list missing'
    cluster_provider_does lies-2 'list terminated'
    cluster_provider_does lies-3 'list tokenless'
    for node in 1 2 3; do
        check "a list without lies-$node is not believed, since it answers" lab_wait "an event" 60 contradicts "$node"
    done
    cluster_provider_does lies 'list empty'
    check "nor is an empty list" lab_wait "an event" 60 contradicts 4
    check "no machine is ended for any of them" test "$(machines_of lies)" = "$before"
    check "and all nodes stay open" open_is lies 4/4
    cluster_provider_does lies
}

contradicts() {
    has_event "lies-$1 .*ListContradicted"
}

start_rival() {
    owner=$(cluster_machine twins-1)
    # shellcheck disable=SC2016  # for the machine's shell
    lab_machine_start rival 10.77.250.1 bash -c 'hostname elsewhere; echo "$1" >/run/instance-id
        exec /run/lab/installed/sbin/muster-noded --config /etc/muster/noded.yaml' rival "$owner"
}

facts_about_twins() {
    check "two machines with one instance id are told of" lab_wait "it" 60 has_event 'Error.*twins-1.*IdentityClaimedTwice.*10\.77\.250\.1'
    check "the node of the first one is open" lab_wait "it" 60 open_is twins 1/1
    check "and its jobs run there" runs_on_its_own_machine twins-1
    refute "the second one starts no slurmd" lab_on rival pgrep slurmd
    check "the first one was not ended" test "$(cluster_machine twins-1)" = "$owner"
}

# The next machine of each has the address of the other one's last.
swap_addresses() {
    addresses="$(cluster_slot swap-1 .Address) $(cluster_slot swap-2 .Address)"
    swap_before=$(machines_of swap)
    cluster_provider_does swap-1 "address ${addresses#* }" 'launch slow 2'
    cluster_provider_does swap-2 "address ${addresses% *}" 'launch slow 2'
    lab_exec scontrol update nodename='swap-[1-2]' state=drain reason=Action:Replace
}

have_other_machines() {
    local now
    now=$(machines_of swap)
    [[ $(wc -w <<<"$now") == 2 && -z $(tr ' ' '\n' <<<"$now" | grep -xF "$(tr ' ' '\n' <<<"$swap_before")") ]]
}

facts_about_addresses() {
    check "two nodes get other machines" lab_wait "them" 90 have_other_machines
    check "and are open again" lab_wait "them" 90 open_is swap 2/2
    check "each with the address that the other one had" test "$(cluster_slot swap-2 .Address) $(cluster_slot swap-1 .Address)" = "$addresses"
    check "Slurm has it so" test "$(cluster_node swap-2 NodeAddr) $(cluster_node swap-1 NodeAddr)" = "$addresses"
    check "jobs for the one run on its machine" runs_on_its_own_machine swap-1
    check "and for the other one on its" runs_on_its_own_machine swap-2
}

has_machine() {
    [[ -n $(cluster_machine "$1") ]]
}

late_message_is() {
    cluster_slot late-1 '.Message, (.Checks[] | .Text)' | grep -E "$1" >/dev/null
}

facts_about_late_devices() {
    local machine
    lab_wait "a machine" 60 has_machine late-1
    machine=$(cluster_machine late-1)
    lab_wait "it" 30 lab_on "$machine" rm /dev/fakegpu3
    lab_on "$machine" hostname ip-10-77-9-9
    cluster_provider_does late-1
    check "a node whose devices are not all there is not let into Slurm" lab_wait "its checks" 60 late_message_is '3 of 4 devices'
    check "so no slurmd has registered" test "$(cluster_node late-1 State)" = FUTURE+DRAIN
    lab_on "$machine" mknod -m 666 /dev/fakegpu3 c 1 3
    check "it comes when they are" lab_wait "it" 90 open_is late 1/1
    check "with the machine that it had" test "$(cluster_machine late-1)" = "$machine"
    check "and all of them" test "$(cluster_run srun -p late --gres=gpu:4 hostname)" = ip-10-77-9-9
}

start_power_job() {
    power_job=$(cluster_long_job power -p power)
    lab_wait "the job to run" 30 cluster_job_says "$power_job" JobState RUNNING
    power_begun=$EPOCHSECONDS
}

# The plug is pulled and put back.
power_cycle() {
    power_machine=$(cluster_machine power-1)
    # Slurm believes that a job is lost if it was begun well before the node's boot: MessageTimeout and 5 s.
    lab_wait "the job to be old" 60 is_old "$power_begun"
    cluster_machines 'select(.node_name == "power-1") | {instance_id, node_name, token} | tojson' |
        lab_exec "$cluster_provider" reboot >/dev/null
}

is_old() {
    ((EPOCHSECONDS > $1 + 25))
}

begun_twice() {
    [[ $(grep -c begun "$LAB_DIR/jobs/power") == 2 ]]
}

facts_about_power() {
    check "a machine that restarts by itself is told of" lab_wait "it" 60 has_event 'power-1.*MachineRebooted'
    check "its node is open again" lab_wait "it" 120 open_is power 1/1
    check "with the same machine" test "$(cluster_machine power-1)" = "$power_machine"
    check "the job that was lost with it is begun again" lab_wait "it" 180 begun_twice
    cluster_end_job power
    check "and ends well" lab_wait "it" 30 cluster_job_says "$power_job" JobState COMPLETED
}

start
check "a file is applied" cluster_run muster apply -f /run/lab/cluster.yaml
for name in 'lies 4/4' 'twins 1/1' 'swap 2/2' 'power 1/1'; do
    # shellcheck disable=SC2086  # a group and what is open
    check "group ${name% *} comes" lab_wait "it" 90 open_is $name
done
slurmctld=$(lab_service_pid slurmctld)
start_power_job
start_rival
facts_about_lists
facts_about_twins
power_cycle
facts_about_late_devices
swap_addresses
facts_about_addresses
facts_about_power
check "a record that is not ours is as it was" \
    test "$(lab_exec scontrol -F show node else-1 | sed -n 's/^ *Reason=\(.*\) \[.*/\1/p')" = "$odd_reason"
check "slurmctld was neither restarted nor died" test "$(lab_service_pid slurmctld)" = "$slurmctld"
check "no machine was launched twice" test -z "$(cluster_launched_twice)"
if ((tap_failed)); then
    note "$(cluster_events)"
    note "$(lab_exec scontrol -F -o show node)"
    note "$(tail -n 60 "$LAB_DIR/log/musterd.log")"
fi
tap_end
