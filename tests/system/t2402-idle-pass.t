#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# musterd with 10,000 nodes in a real slurmctld, for which no machine is to be had: what slurmctld is asked when nothing
# happens, by its own count.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/tap.sh"
. "$here/lab.sh"
. "$here/cluster.sh"

LAB_MAX_NODES=10100
CLUSTER_SLURM_CONF='MaxNodeCount=10100'
trap lab_stop EXIT
lab_start
cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
cat >"$LAB_DIR/cluster.yaml" <<END
cluster: wide
providers:
  lab: {type: exec, program: $cluster_provider}
instance_groups:
  - {name: gpu, partition: gpu, target_count: 5000, provider: lab, node: {cpus: 2, memory: 500 MiB}}
  - {name: cpu, partition: cpu, target_count: 5000, provider: lab, node: {cpus: 2, memory: 500 MiB}}
END
mkdir -p "$LAB_DIR/provider"
cluster_provider_does all 'launch fail capacity none is to be had'
cluster_start "$LAB_DIR/programs" /run/lab/cluster.yaml

# rpcs TYPE: how often slurmctld was asked that since the count began.
rpcs() {
    awk -v type="$1" '$1 == type && /count:/ { sub(/.*count:/, ""); print $1; found = 1; exit } END { if (!found) print 0 }' \
        <<<"$counts"
}

slurmctld_has_them() {
    [[ $(lab_exec scontrol -F -o show nodes | grep -c '^NodeName=[cg]pu-') == 10000 ]]
}

# The reservations are what a pass asks for last.
count_for_ten_passes() {
    lab_exec sdiag -r >/dev/null
    lab_wait "ten passes" 120 ten_passes_are_over
}
ten_passes_are_over() {
    counts=$(lab_exec sdiag -i)
    (($(rpcs REQUEST_RESERVATION_INFO) >= 10))
}

at_most_one_a_pass() {
    local asked passes
    asked=$(rpcs "$1")
    passes=$(rpcs REQUEST_RESERVATION_INFO)
    # One pass may be under way.
    ((asked >= 1 && asked <= passes + 1)) || { echo "$asked in $passes passes"; return 1; }
}

# What belongs to slurm.conf is looked at once a minute.
nothing_else_is_asked() {
    local others
    others=$(awk '$1 ~ /^REQUEST_/ { print $1 }' <<<"$counts" |
        grep -vE '^REQUEST_(NODE_INFO|JOB_INFO|RESERVATION_INFO|STATS_INFO|STATS_RESET|BUILD_INFO|PARTITION_INFO|PING)$' || :)
    [[ -z $others ]] || { echo "$others"; return 1; }
}

check "a file with 10,000 nodes is applied" cluster_run muster apply -f /run/lab/cluster.yaml
check "10,000 records are there" lab_wait "10,000 records" 120 slurmctld_has_them
sleep 2 # the passes that still act
count_for_ten_passes
note "$(awk '/Remote Procedure Call statistics by message type/ { on = 1 } /by user/ { on = 0 } on' <<<"$counts")"
check "an idle pass at 10,000 nodes costs at most one read of the nodes" at_most_one_a_pass REQUEST_NODE_INFO
check "and at most one of the jobs" at_most_one_a_pass REQUEST_JOB_INFO
check "and nothing is changed" nothing_else_is_asked
tap_end
