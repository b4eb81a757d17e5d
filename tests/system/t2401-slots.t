#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 10,000 slots in a real slurmctld, made, drained and opened by musterd's own code: the number of RPCs does not grow with
# the number of nodes. Times are the bench's business (bench/slots).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/tap.sh"
. "$here/lab.sh"

LAB_MAX_NODES=10200
LAB_SLURM_CONF=$LAB_GPU_CONF
trap lab_stop EXIT
lab_start
lab_slurm_conf
lab_slurmctld_start

# rpcs WHAT NODES: the RPC count that slots_bench printed.
rpcs() {
    awk -v what="$1" -v nodes="$2" '$0 ~ "^" what && $0 ~ " " nodes " nodes" { for (i = 1; i < NF; i++) if ($(i + 1) == "RPCs") print $i }' "$LAB_DIR/slots.out"
}

lab_exec "$top_builddir/bench/slots_bench" "$top_builddir/slurm_helper/muster-slurm" 10000 20 >"$LAB_DIR/slots.out" || :
note "$(cat "$LAB_DIR/slots.out")"

is_rpcs() {
    [[ $(rpcs "$2" "$3") == "$1" ]]
}
slurmctld_has_them() {
    [[ $(lab_exec scontrol -F -o show nodes | grep -c '^NodeName=gpu-') == 10000 ]]
}
check "10,000 records are made with one RPC" is_rpcs 1 'make the records' 10000
check "10,000 records are drained with one RPC" is_rpcs 1 'drain them' 10000
check "10,000 nodes are opened with one RPC" is_rpcs 1 'open them' 10000
check "the loop beside it is counted too: one RPC per node" is_rpcs 20 'one by one: open' 20
check "slurmctld has all 10,000" slurmctld_has_them
tap_end
