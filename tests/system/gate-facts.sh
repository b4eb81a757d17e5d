# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# gate-facts.sh: what Slurm must do for the gate to hold, tried on a real one. No program of ours takes part. Each
# t21*.t runs it for one Slurm version, so that a new version that breaks a fact is noticed here, by name.
#
#   gate_facts [TREE]

. "$(dirname "${BASH_SOURCE[0]}")/lab.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

gpu_shape='CPUs=2 RealMemory=500 Gres=gpu:h100:4 Feature=gpu,muster_gpu'
born_closed='State=DRAIN Reason=muster:unregistered'

# --- reading -----------------------------------------------------------------------------------------------------------

node_line() {
    lab_exec scontrol -F -o show node "$1"
}

# IDLE+DRAIN+DYNAMIC_NORM, or nothing if there is no such record.
node_state() {
    node_line "$1" 2>/dev/null | sed -n 's/.* State=\([^ ]*\).*/\1/p'
}

# state_has NODE FLAG...: the record has all of them, and none of those with a ! before.
state_has() {
    local state flag
    state=+$(node_state "$1" | tr -d '*')+
    shift
    for flag; do
        case $flag in
        !*) [[ $state != *+${flag#!}+* ]] || { echo "state is $state"; return 1; } ;;
        *) [[ $state == *+$flag+* ]] || { echo "state is $state"; return 1; } ;;
        esac
    done
}

responds() {
    [[ $(node_state "$1") != *'*'* && $(node_state "$1") != *NOT_RESPONDING* ]]
}

all_respond() {
    local node
    for node in $1; do
        responds "$node" || { echo "node $node"; return 1; }
    done
}

all_have() {
    local nodes=$1 node
    shift
    for node in $nodes; do
        state_has "$node" "$@" || { echo "node $node"; return 1; }
    done
}

is_absent() {
    [[ -z $(node_state "$1") ]]
}

sinfo_names() {
    [[ " $(lab_exec sinfo -a -h -N -o %N | tr '\n' ' ') " == *" $1 "* ]]
}

job_is() {
    [[ $(lab_exec squeue -h -j "$1" -o %T) == "$2" ]]
}

job_is_on() {
    [[ $(lab_exec squeue -h -j "$1" -o %N) == "$2" ]]
}

job_has_run() {
    lab_exec scontrol -o show job "$1" | grep -q 'JobState=COMPLETED'
}

# Prints the job's id.
submit() {
    lab_exec sbatch --parsable -o /dev/null "$@" --wrap 'srun -l hostname'
}

drain() {
    lab_exec scontrol update nodename="$1" state=DRAIN reason=muster:gathering
}

open_idle() {
    lab_exec scontrol update nodename="$1" state=IDLE
}

undrain() {
    lab_exec scontrol update nodename="$1" state=UNDRAIN
}

create() {
    lab_exec scontrol create NodeName="$1" $gpu_shape NodeAddr=192.0.2.1 State=FUTURE
}

# Without this a restart of slurmctld forgets "h100".
fix_gres() {
    lab_exec scontrol update nodename="$1" gres=gpu:h100:4
}

address() {
    lab_exec scontrol update nodename="$1" nodeaddr="$2"
}

# --- the facts ---------------------------------------------------------------------------------------------------------

facts_about_records() {
    # First, while there is no job that could be sent there.
    lab_exec scontrol create NodeName=c1 CPUs=2 RealMemory=500 Feature=cloud NodeAddr=192.0.2.1 State=CLOUD || :
    lost=$(submit -p all)
    check "a CLOUD record is no use as a gate: Slurm sends a job there although no machine exists" \
        lab_wait "a job to be sent to c1" 15 job_is_on "$lost" c1
    lab_exec scancel "$lost"
    lab_wait "the record to be free" 15 lab_exec scontrol delete NodeName=c1

    create 'g[1-8]'
    drain 'g[1-8]'
    check "created and drained by host list, records are FUTURE+DRAIN" all_have "g1 g8" FUTURE DRAIN DYNAMIC_NORM
    refute "a FUTURE record is hidden from sinfo" sinfo_names g1
    refute "a FUTURE record is hidden from a plain scontrol show node" lab_exec scontrol -o show node g1
    refute "a job with a feature that no record has is refused even when held" submit -H -p gpu -C other
    refute "a job with a GRES that no record has is refused" submit -p gpu --gres=gpu:a100:4
    check "a job with a GRES that no record has is accepted when held" submit -H -p gpu --gres=gpu:a100:4
    check "a job for the feature and GRES of FUTURE records is accepted" submit -p gpu -N2 -C gpu --gres=gpu:h100:4
    waiting=$(submit -p gpu -N3 --gres=gpu:4)
    everywhere=$(submit -p all -N1)
    large=$(submit -H -p gpu -N50 --gres=gpu:4) || large=
    check "a held job for more nodes than there are records is accepted" test -n "$large"
    address g1 10.77.0.11
    check "the address of a FUTURE record can be set" grep -q NodeAddr=10.77.0.11 <(node_line g1)

    refute "a record cannot be created as DRAIN" \
        lab_exec scontrol create NodeName=x1 CPUs=2 RealMemory=500 State=DRAIN
    refute "a record cannot be created without a state" lab_exec scontrol create NodeName=x1 CPUs=2 RealMemory=500
    check "a refused creation leaves no record" is_absent x1
    lab_exec scontrol create NodeName='m[1-60]' $gpu_shape NodeAddr=192.0.2.1 State=FUTURE >/dev/null 2>&1 || :
    refute "a creation beyond MaxNodeCount does not make all of them, whatever it reports" state_has m60 FUTURE
    lab_exec scontrol delete NodeName='m[1-60]' >/dev/null 2>&1 || :
}

gres_is() {
    grep -q " Gres=$2 " <(node_line "$1")
}

facts_about_restart() {
    fix_gres 'g[1-4,6-8]'
    lab_slurmctld_restart
    check "FUTURE+DRAIN survives a restart of slurmctld" all_have "g1 g8" FUTURE DRAIN
    check "the address of a FUTURE record survives a restart" grep -q NodeAddr=10.77.0.11 <(node_line g1)
    check "the GRES of a FUTURE record that was set by an update survives a restart" gres_is g8 gpu:h100:4
    facts_about_forgotten_gres
    lab_exec scontrol reconfigure
    lab_wait "slurmctld to answer" 10 lab_slurmctld_answers
    check "FUTURE+DRAIN survives a reconfigure" all_have "g1 g8" FUTURE DRAIN
}

facts_about_forgotten_gres() {
    check "a GRES that was only given at creation loses its type in a restart" gres_is g5 gpu:4
    address g5 10.77.0.15
    lab_slurmd g5 10.77.0.15 "$gpu_shape $born_closed"
    lab_wait "g5 to register" 20 state_has g5 IDLE DRAIN || :
    check "a node that registers on such a record ends without GRES" lab_wait "g5 to have none" 5 gres_is g5 '(null)'
    refute "which an update cannot mend any more" fix_gres g5
    lab_machine_kill g5
    lab_exec scontrol delete NodeName=g5
    create g5
    drain g5
    check "but deleting and creating the record does" gres_is g5 gpu:h100:4
    fix_gres g5
    check "an update of the GRES leaves the record FUTURE+DRAIN" state_has g5 FUTURE DRAIN
}

# Writes every state that g1 to g3 are seen in, as fast as Slurm answers, until told to stop.
watch_states() {
    lab_exec bash -c '
        while ! [[ -e /run/lab/stop-watching ]]; do
            scontrol -F -o show node g1,g2,g3 | sed -n "s/.* State=\([^ ]*\).*/\1/p"
        done | sort | uniq -c' >"$LAB_DIR/states"
}

facts_about_registration() {
    local node watcher
    watch_states &
    watcher=$!
    address g2 10.77.0.12
    address g3 10.77.0.13
    for node in 1 2 3; do
        lab_slurmd "g$node" "10.77.0.1$node" "$gpu_shape $born_closed"
    done
    check "slurmd -Z turns its FUTURE+DRAIN record into IDLE+DRAIN" \
        lab_wait "g1 to g3 to register" 20 all_have "g1 g2 g3" IDLE DRAIN
    check "a registered node is shown by sinfo" sinfo_names g1
    # Two rounds of the scheduler, in which a job would start if it could.
    sleep 4
    check "no job starts on gathering nodes, in no partition" job_is "$everywhere" PENDING
    : >"$LAB_DIR/stop-watching"
    wait "$watcher"
    refute "a registering node is at no time seen without DRAIN" grep -v DRAIN "$LAB_DIR/states"
    note "$(cat "$LAB_DIR/states")"
    check "the address set by us is the one kept" grep -q NodeAddr=10.77.0.11 <(node_line g1)

    lab_exec scontrol reconfigure
    lab_wait "slurmctld to answer" 10 lab_slurmctld_answers
    check "IDLE+DRAIN survives a reconfigure" all_have "g1 g2 g3" IDLE DRAIN
    lab_slurmctld_restart
    check "IDLE+DRAIN survives a restart of slurmctld" all_have "g1 g2 g3" IDLE DRAIN
    check "jobs survive the restart, still waiting" job_is "$waiting" PENDING
}

facts_about_wrong_shape() {
    address g4 10.77.0.14
    lab_slurmd g4 10.77.0.14 "CPUs=2 RealMemory=500 Feature=gpu,muster_gpu $born_closed"
    check "a slurmd without the record's GRES leaves it FUTURE, marked INVALID_REG" \
        lab_wait "g4 to be INVALID_REG" 20 state_has g4 FUTURE INVALID_REG DRAIN
    refute "a node with INVALID_REG is hidden from sinfo" sinfo_names g4
}

facts_about_opening() {
    local result=0 job
    local began=${EPOCHREALTIME/./}
    open_idle 'g[1-4]' || result=$?
    check "State=IDLE of a list with an INVALID_REG node reports an error" test "$result" -ne 0
    check "State=IDLE with one bad node in the list still opens the others" all_have "g1 g2 g3" '!DRAIN'
    check "nodes opened so count as responding" all_respond "g1 g2 g3"
    check "a waiting job runs after State=IDLE" lab_wait "the waiting job to run" 15 job_has_run "$waiting"
    note "State=IDLE to job end: $(((${EPOCHREALTIME/./} - began) / 1000)) ms"
    check "the job over all nodes runs after State=IDLE" lab_wait "the other job to run" 15 job_has_run "$everywhere"
    refute "State=IDLE of a FUTURE record is refused" open_idle g8
    check "and leaves its DRAIN" state_has g8 FUTURE DRAIN

    job=$(lab_exec sbatch --parsable -p gpu -w g1 -o /dev/null --wrap 'sleep 60')
    lab_wait "the long job to run" 15 job_is "$job" RUNNING
    drain g1
    refute "State=IDLE of a drained node with a job is refused" open_idle g1
    undrain g1
    check "UNDRAIN of it is not" state_has g1 '!DRAIN'
    check "and its job lives on" job_is "$job" RUNNING
    lab_exec scancel "$job"
    lab_wait "g1 to be idle" 15 state_has g1 IDLE '!COMPLETING'

    result=0
    drain 'g[1-2]'
    undrain 'g[1-2],g4' || result=$?
    check "UNDRAIN of a list with an INVALID_REG node reports an error" test "$result" -ne 0
    check "UNDRAIN with one bad node in the list still opens the others" all_have "g1 g2" '!DRAIN'
    check "they are reached soon" lab_wait "g1 and g2 to respond" 10 all_respond "g1 g2"

    drain g4
    lab_machine_kill g4
    lab_slurmd g4 10.77.0.14 "$gpu_shape $born_closed"
    check "a slurmd started again with the right GRES makes it IDLE+DRAIN" \
        lab_wait "g4 to register" 20 state_has g4 IDLE DRAIN '!INVALID_REG'

    lab_machine_kill g3
    lab_slurmd g3 10.77.0.13 "$gpu_shape $born_closed"
    sleep 2
    check "State=DRAIN in --conf does not close an opened node whose slurmd starts again" state_has g3 IDLE '!DRAIN'

    undrain g8
    check "UNDRAIN of a FUTURE record removes its DRAIN, so only nodes that are there may be opened" \
        state_has g8 FUTURE '!DRAIN'
    drain g8
    # Cut off, since a slurmd that registers again, as UNDRAIN asks it to, brings its node back (ReturnToService=2).
    lab_machine_cut g2
    lab_exec scontrol update nodename=g2 state=DOWN reason=test
    drain g2
    undrain g2
    check "a DOWN node stays DOWN after UNDRAIN" state_has g2 DOWN '!DRAIN'
    drain g2
    open_idle g2
    check "State=IDLE takes a DOWN node for an idle one, so only nodes seen idle may be opened by it" state_has g2 IDLE
    lab_exec scontrol update nodename=g2 state=DOWN reason=test
    lab_machine_mend g2
    # A slurmd that registers meanwhile brings it back by itself (ReturnToService=2), and then RESUME is refused.
    lab_exec scontrol update nodename=g2 state=RESUME || :
    check "and RESUME brings it back" lab_wait "g2 to be idle" 30 state_has g2 IDLE
}

facts_about_ways_round() {
    lab_slurmd b1 10.77.0.21 "$gpu_shape $born_closed"
    check "a slurmd without a record whose --conf has State=DRAIN is born IDLE+DRAIN" \
        lab_wait "b1 to register" 20 state_has b1 IDLE DRAIN
    lab_slurmd b2 10.77.0.22 "$gpu_shape"
    check "a slurmd without a record and without State=DRAIN is born open" \
        lab_wait "b2 to register" 20 state_has b2 IDLE '!DRAIN'

    lab_exec scontrol update nodename=ALL state=RESUME >/dev/null 2>&1 || :
    check "state=RESUME on ALL turns hidden slots idle" state_has g6 IDLE '!FUTURE'
    check "and opens gathering nodes, so they must be drained again" state_has g4 '!DRAIN'
    lab_exec scontrol update nodename='g[5-8]' state=FUTURE
    drain 'g[5-8]'
    check "state=FUTURE and then DRAIN puts slots back" all_have "g5 g6 g7 g8" FUTURE DRAIN
    refute "a slot put back is hidden again" sinfo_names g6

    lab_machine_kill b1
    lab_exec scontrol delete NodeName=b1
    check "a record can be deleted" is_absent b1
    create b1
    drain b1
    address b1 10.77.0.21
    lab_slurmd b1 10.77.0.21 "$gpu_shape $born_closed"
    check "created again under the same name it registers as IDLE+DRAIN" \
        lab_wait "b1 to register" 20 state_has b1 IDLE DRAIN
    undrain b1
    lab_wait "b1 to respond" 10 responds b1 || :
    check "and a job runs on it" lab_exec timeout 20 srun -p gpu -w b1 --gres=gpu:4 hostname

    lab_slurmctld_kill TERM
    lab_slurmctld_start -c
    check "slurmctld -c forgets the slots" is_absent g6
    # 24.11 and later make the record again when slurmd gets SIGHUP, which takes them up to 10 s for each one still under
    # way. 22.05 refuses that until slurmd is started again.
    lab_on g1 pkill -HUP -o -f '^slurmd '
    lab_on b2 pkill -HUP -o -f '^slurmd '
    if lab_slurm_since 24.11; then
        check "a running slurmd with State=DRAIN in --conf that registers without a record comes back IDLE+DRAIN" \
            lab_wait "g1 to register again" 40 state_has g1 IDLE DRAIN
        check "while one without State=DRAIN comes back open" \
            lab_wait "b2 to register again" 40 state_has b2 IDLE '!DRAIN'
    else
        refute "22.05: a running slurmd that registers without a record is not taken in" \
            lab_wait "g1 to register again" 3 state_has g1 IDLE
    fi
}

facts_about_sudden_death() {
    create k1
    drain k1
    lab_slurmctld_kill KILL
    lab_slurmctld_start
    check "a slurmctld killed soon after a DRAIN has forgotten it, so slots must be looked at again before slurmd starts" \
        state_has k1 FUTURE '!DRAIN'
}

gate_facts() {
    set -euo pipefail
    trap 'lab_stop' EXIT
    lab_start "${1:-/}"
    note "Slurm $LAB_VERSION"
    LAB_SLURM_CONF=$LAB_GPU_CONF
    lab_slurm_conf
    lab_slurmctld_start
    facts_about_records
    facts_about_restart
    facts_about_registration
    facts_about_wrong_shape
    facts_about_opening
    facts_about_ways_round
    facts_about_sudden_death
    if ((tap_failed)); then
        note "$(lab_log_tail 15 | grep -v "Unauthorized credential")"
    fi
    tap_end
}
