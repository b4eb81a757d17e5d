#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What an operator asks of a running cluster: groups that grow, shrink and go, nodes that are replaced and restarted,
# waiting for it, looking ahead, and every refusal with its reason.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lab.sh"
. "$here/cluster.sh"
. "$here/tap.sh"
trap 'lab_stop' EXIT

file=/run/lab/cluster.yaml

as_user() {
    cluster_run setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

cluster_file() {
    cat <<END
cluster: commands
providers:
  local: {type: exec, program: $cluster_provider, list_interval: 2 s, call_timeout: 5 s}
instance_groups:
  - name: gpu
    partition: gpu
    target_count: 2
    min_count: 1
    provider: local
    node: {cpus: 2, memory: 500 MiB, gres: gpu:h100:4}
    settle_time: 500 ms
    drain_timeout: 5 min
    prune_after: 1 s
END
    [[ ${1-} != with-cpu ]] || cat <<END
  - name: cpu
    partition: cpu
    target_count: 1
    provider: local
    node: {cpus: 2, memory: 500 MiB}
    settle_time: 500 ms
    prune_after: 1 s
END
}

# says PATTERN COMMAND...: COMMAND fails, with one sentence that matches.
says() {
    local pattern=$1 answer
    shift
    if answer=$(cluster_run "$@" 2>&1); then
        echo "it succeeded: $answer"
        return 1
    fi
    echo "$answer"
    grep -Eqi -- "$pattern" <<<"$answer"
}

node_of_slurm() {
    lab_exec scontrol -F -o show node "$1" 2>/dev/null | sed -n "s/.* $2=\([^ ]*\).*/\1/p"
}

node_has() {
    cluster_run muster nodes --json | jq -e --arg name "$1" ".Nodes[] | select(.Name == \$name) | $2" >/dev/null
}

node_shows() {
    cluster_run muster nodes --json | jq -r --arg name "$1" ".Nodes[] | select(.Name == \$name) | $2"
}

nodes_are() {
    [[ $(lab_exec sinfo -h -N -p gpu -o %N | xargs) == "$1" ]]
}

records_are() {
    [[ $(lab_exec scontrol -F -o show node | sed -n 's/NodeName=\([^ ]*\).*/\1/p' | sort | xargs) == "$1" ]]
}

wait_for() {
    cluster_run muster wait "$1" --for="$2" --timeout "${3-60s}"
}

# All that muster knows but for times, and what its provider was asked for.
everything() {
    cluster_run muster nodes --json | jq -c '.Nodes[] | [.Name, .Step, .Wish, .InstanceId, .Attempt]'
    cluster_run muster events --json -n 1000 | jq .LastSequence
    cluster_provider_log launched
    cluster_provider_log terminated
    # Whether a slurmd answers just now is the machine's business.
    lab_exec scontrol -F -o show node | grep -o 'NodeName=[^ ]*\|State=[^ ]*\|Reason=[^ ]*' | sed 's/+NOT_RESPONDING//; s/\*//'
}

# changes_nothing COMMAND...
changes_nothing() {
    local before after
    before=$(everything)
    cluster_run "$@" || return
    after=$(everything)
    [[ $before == "$after" ]] || diff <(echo "$before") <(echo "$after")
}

start() {
    lab_start
    cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
    cluster_file with-cpu >"$LAB_DIR/cluster.yaml"
    CLUSTER_SLURM_CONF='MaxNodeCount=32'
    cluster_start "$LAB_DIR/programs" "$file"
}

facts_about_looking() {
    check "a plan changes nothing" changes_nothing muster plan
    check "nor does a dry run of a resync" changes_nothing muster resync --dry-run
    check "nor a dry run of an apply" changes_nothing muster apply --dry-run -f "$file"
    cluster_provider_does gpu 'list hang'
    check "a resync names a group whose machines cannot be listed" says 'group gpu: its machines could not be listed' muster resync --dry-run
    cluster_provider_does gpu
    check "and answers well when they can" cluster_run muster resync
}

facts_about_users() {
    local command
    for command in status nodes events plan 'why gpu' 'wait gpu --for=target'; do
        # shellcheck disable=SC2086  # a command and its arguments
        check "an ordinary user may: $command" as_user muster $command
    done
    for command in 'scale gpu 1' 'add gpu 1' 'remove gpu-1 --yes' 'replace gpu-1 --yes' 'reboot gpu-1' 'delete gpu --yes' \
        'delete --cluster commands --yes' 'open gpu --yes' resync; do
        check "but not: $command" says_to_user 'only root or SlurmUser' muster $command
    done
}

says_to_user() {
    local pattern=$1
    shift
    says "$pattern" setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

facts_about_refusals() {
    check "an unknown group is refused" says 'no group "nosuch"' muster scale nosuch 3
    check "a MinCount above the target is refused" says 'gpu: expected a MinCount of 0 to the target \(2\), found 3' muster scale gpu --min 3
    check "a negative target is refused" says 'expected a target of 0 to 6758, found -1' muster scale gpu -- -1
    check "a number that no int holds is refused" says 'expected a target of 0 to 6758' muster scale gpu 99999999999999
    check "more than MaxNodeCount has room for is refused" says "expected slurm.conf's MaxNodeCount to be .* or more .*, found 32" muster scale gpu 60
    check "also when nodes are added" says "MaxNodeCount" muster add gpu 60
    check "scale without a number is refused" says 'needs a target, --min, or both' muster scale gpu
    check "adding none is refused" says 'expected 1 to 6758 nodes to add, found 0' muster add gpu 0
    check "a node that is nobody's is refused" says '"gpu-99" is no node' muster remove gpu-99 --yes
    check "a host list that is none is refused" says 'gpu-\[1' muster reboot 'gpu-[1-'
    check "removing below MinCount is refused, and says how it can be done" says 'lower MinCount first \(muster scale gpu --min 0\)' muster remove 'gpu-[1-2]' --yes
    check "removing asks first, and says so where nobody can answer" says 'give --yes' muster remove gpu-1
    check "deleting nothing is refused" says 'a group or --cluster' muster delete --yes
    check "deleting the cluster needs its name" says 'no cluster "other"' muster delete --cluster other --yes
    check "leaving a group out of the file is refused, and says how it goes" says 'muster delete cpu' muster apply -f /run/lab/without-cpu.yaml
    check "waiting for a group that is not there is refused" says 'no group "nosuch"' muster wait nosuch --for=target
    check "but its deletion is reached" wait_for nosuch deleted
    check "a time that is none is refused" says 'expected a number and s, m or h' muster wait gpu --for=target --timeout soon
    check "and all that changed nothing" wait_for gpu target 10s
}

facts_about_counts() {
    check "a higher target is taken" cluster_run muster scale gpu 3
    check "and reached" wait_for gpu target
    check "with a node more in Slurm" nodes_are 'gpu-1 gpu-2 gpu-3'
    check "a lower target is taken" cluster_run muster scale gpu 2
    check "and reached" wait_for gpu target
    check "by the newest idle node" lab_wait "gpu-3 to go" 15 records_are 'cpu-1 gpu-1 gpu-2'
    check "its machine is ended" test "$(cluster_provider_log terminated gpu-3 | wc -l)" = 1
    check "nodes can be added by number" cluster_run muster add gpu 2
    check "and come" wait_for gpu target
    check "under the names that are free" nodes_are 'gpu-1 gpu-2 gpu-3 gpu-4'
}

facts_about_single_nodes() {
    local job machine boot
    job=$(lab_exec sbatch --parsable -p gpu -w gpu-2 -o /dev/null --wrap 'until [ -e /run/lab/go ]; do sleep 0.2; done')
    lab_wait "the job to run" 20 job_is "$job" R
    check "a busy node may be removed by name" cluster_run muster remove gpu-2 --yes
    check "it is closed at once" lab_wait "gpu-2 to be closed" 5 node_reason_is gpu-2 'muster: to be removed'
    check "its job runs on" job_is "$job" R
    check "status says for what it waits" bash -c 'grep -q "gpu-2 to be removed .*waits for 1 job" <<<"$1"' says "$(cluster_run muster status)"
    check "so does the job itself" bash -c 'grep -q "gpu-2 .*to be removed" <<<"$1"' says "$(cluster_run muster why "$job")"
    : >"$LAB_DIR/go"
    check "it goes when the job has ended" wait_for gpu target
    check "and the job ended well" lab_wait "the job's end" 10 job_is "$job" ''
    check "its record goes, too" lab_wait "gpu-2 to go" 15 records_are 'cpu-1 gpu-1 gpu-3 gpu-4'

    machine=$(node_shows gpu-1 .InstanceId)
    check "a node is replaced" cluster_run muster replace gpu-1 --yes
    check "it leaves" lab_wait "gpu-1 to leave" 20 node_has gpu-1 ".InstanceId != \"$machine\""
    check "and comes back" wait_for gpu target
    check "under the same name" nodes_are 'gpu-1 gpu-3 gpu-4'

    machine=$(cluster_machine gpu-3)
    boot=$(lab_on "$machine" cat /proc/sys/kernel/random/boot_id)
    check "nodes are rebooted by a host list" cluster_run muster reboot 'gpu-[3-4]'
    check "the machine restarts" lab_wait "the reboot" 30 has_rebooted "$machine" "$boot"
    check "and the nodes open again" wait_for gpu target
    check "with the same machines" test "$(cluster_machine gpu-3)" = "$machine"
    check "each was asked for once" test "$(cluster_provider_log called reboot | wc -l)" = 2
}

job_is() {
    [[ $(lab_exec squeue -h -j "$1" -o %t 2>/dev/null) == "$2" ]]
}

node_reason_is() {
    lab_exec scontrol show node "$1" | grep -q "Reason=$2"
}

has_rebooted() {
    [[ $(lab_on "$1" cat /proc/sys/kernel/random/boot_id) != "$2" ]]
}

facts_about_waiting() {
    cluster_provider_does gpu 'boot hold'
    cluster_run muster scale gpu 5 --min 5 >/dev/null
    check "a wait in vain ends in time, and says how far it came" says 'timed out after 2 s: group gpu is Updating: 3 of 5' muster wait gpu --for=inservice --timeout 2s
    check "while a group waits for its MinCount no node is added" says 'waits for its MinCount' muster add gpu 1
    check "nor removed" says 'waits for its MinCount' muster remove gpu-1 --yes
    check "its counts may change" cluster_run muster scale gpu 5 --min 3
    check "which ends the wait" wait_for gpu inservice 10s
    cluster_provider_does gpu
    check "and the rest comes" wait_for gpu target
    sed 's/min_count: 1/&\n    deadline: 3 s/' "$LAB_DIR/cluster.yaml" >"$LAB_DIR/hasty.yaml"
    cluster_provider_does gpu 'boot never'
    cluster_run muster apply -f /run/lab/hasty.yaml >/dev/null
    wait_for gpu target >/dev/null || :
    cluster_run muster scale gpu 3 --min 3 >/dev/null
    check "a rollback ends a wait, and is named" says 'gpu was rolled back: 2 of 3 nodes ready at the deadline' muster wait gpu --for=inservice --timeout 40s
    check "status says it plainly" bash -c 'grep -q "ROLLED BACK: 2 of 3" <<<"$1"' says "$(cluster_run muster status)"
    cluster_provider_does gpu
    check "applying the file again begins anew" cluster_run muster apply -f "$file"
    check "and goes well" wait_for gpu target
}

facts_about_deletion() {
    local node
    check "a group is deleted" cluster_run muster delete cpu --yes
    check "and gone" wait_for cpu deleted
    check "with its record" cpu_has_no_record
    check "then a file without it is taken" cluster_run muster apply -f /run/lab/without-cpu.yaml
    wait_for gpu target >/dev/null || :
    node=$(lab_exec sinfo -h -N -p gpu -o %N | head -n 1)
    lab_exec scontrol update nodename="$node" state=drain reason='bad fan'
    lab_wait "the drain to be seen" 10 node_has "$node" '.DrainedByOther == "bad fan"' || :
    check "the cluster is deleted" cluster_run muster delete --cluster commands --yes
    check "no other file is taken meanwhile" says 'is being deleted' muster apply -f /run/lab/without-cpu.yaml
    check "it goes, with the node that an admin has drained" lab_wait "the cluster to go" 60 cluster_is_forgotten
    check "no record is left" records_are ''
    check "and no machine" test "$(cluster_run muster events -n 1000 | grep -c MachineTerminated)" = "$(cluster_provider_log launched | wc -l)"
    refute "no gate table holds anybody" lab_exec test -e /run/muster/gate-table
    check "an event tells of it" bash -c 'grep -q ClusterDeleted <<<"$1"' says "$(cluster_events)"
    lab_exec kill -KILL "$(lab_service_pid musterd)"
    check "after a restart it is still gone" lab_wait "musterd" 20 cluster_is_forgotten
    check "and the file makes it anew" cluster_run muster apply -f "$file"
    check "up to its target" wait_for gpu target
}

cpu_has_no_record() {
    ! lab_exec scontrol -F -o show node | grep -q NodeName=cpu-
}

cluster_is_forgotten() {
    [[ $(cluster_status .Cluster) == '' && $(cluster_status '.Groups | length') == 0 ]]
}

start
cluster_file >"$LAB_DIR/without-cpu.yaml"
check "a file is applied" cluster_run muster apply -f "$file"
check "muster wait waits for its group" wait_for gpu target
check "and for the other one" wait_for cpu target
facts_about_looking
facts_about_users
facts_about_refusals
facts_about_counts
facts_about_single_nodes
facts_about_waiting
facts_about_deletion
if ((tap_failed)); then
    note "$(cluster_events)"
    note "$(cluster_run muster nodes || :)"
    note "$(tail -n 60 "$LAB_DIR/log/musterd.log")"
fi
tap_end
