# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# helper-facts.sh: muster-slurm in front of a real slurmctld: what it tells of jobs, reservations and the configuration.
# Each t27*-helper-*.t runs it for one Slurm version.
#
#   helper_facts FILE          this machine's Slurm, with the helper FILE
#   helper_facts "" TREE       that of a tree, with the helper compiled there

. "$(dirname "${BASH_SOURCE[0]}")/lab.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# The sources are seen as /mnt/muster. libslurm's name has the version in it, so a tree needs a helper of its own.
compile_helper() {
    lab_exec bash -euc '
        cd /mnt/muster
        g++ -std=c++17 -Wall -Wextra -Werror -O0 -I. -o /run/lab/muster-slurm slurm_helper/*.cpp sys/json.cpp \
            logic/value.cpp -lslurm'
}

# ask OPERATION [MEMBERS]: prints the answer.
ask() {
    lab_exec "$helper" <<<"{\"id\":1,\"op\":\"$1\"${2:+,$2}}" 2>>"$LAB_DIR/log/helper.log" | tail -n 1
}

# tells OPERATION JQ: JQ of the answer is true.
tells() {
    local answer
    answer=$(ask "$1" "${3-}")
    jq -e "$2" >/dev/null <<<"$answer" || {
        echo "$answer"
        return 1
    }
}

job_is() {
    [[ $(lab_exec squeue -h -j "$1" -o %T) == "$2" ]]
}

facts_about_configuration() {
    check "the configuration tells what slurm.conf says" tells config \
        '.return_to_service == 2 and .slurmd_timeout == 60 and .slurmctld_timeout == 120 and .tree_width == 65533 and
         .enforce_part_limits == "NO" and .select_type == "select/cons_tres" and .auth_type == "auth/munge"'
    check "and what is not in it is null or empty" tells config '.suspend_time == null and .reconfig_flags == []'
    check "it knows which file that is" tells config '.slurm_conf == "/etc/slurm/slurm.conf"'
    check "the helper's own version is slurmctld's" tells config '.helper_version == .version'
    check "all NodeSets are known" tells config '.node_sets | contains(["muster_gpu"])'
    check "a partition tells its nodes as they were written" \
        tells partitions '.partitions[] | select(.name == "gpu") | .nodes_spec == "muster_gpu"'
    LAB_SLURM_CONF="$LAB_SLURM_CONF
ReconfigFlags=KeepPartState
EnforcePartLimits=ANY
SuspendTime=600
SuspendProgram=/bin/true
ResumeProgram=/bin/true
PartitionName=awake Nodes=ALL SuspendTime=INFINITE
PartitionName=drowsy Nodes=ALL SuspendTime=60"
    lab_slurm_conf
    check "a reconfigure is done" tells reconfigure '.ok'
    lab_wait "slurmctld to answer" 10 lab_slurmctld_answers
    check "and then the configuration tells the new settings" lab_wait "the new configuration" 10 tells config \
        '.reconfig_flags == ["KeepPartState"] and .enforce_part_limits == "ANY" and .suspend_time == 600 and
         .suspend_program == "/bin/true"'
    check "a partition that is never suspended is told from one that has no say" tells partitions \
        '[.partitions[] | {(.name): [.suspend_time, .suspend_never]}] | add ==
         {"gpu": [null, false], "all": [null, false], "awake": [null, true], "drowsy": [60, false]}'
}

facts_about_jobs() {
    local job
    job=$(lab_exec sbatch --parsable -p gpu -w g1,g2 -N2 -o /dev/null --wrap 'sleep 1000')
    check "a job that asks for nodes by name tells them" tells jobs \
        ".jobs[] | select(.id == $job) | .required_nodes == \"g[1-2]\" and .nodes == null"
    lab_exec scontrol update 'nodename=g[1-2]' state=UNDRAIN
    lab_wait "the job to run" 20 job_is "$job" RUNNING || :
    check "a running job tells its nodes" tells jobs ".jobs[] | select(.id == $job) | .nodes == \"g[1-2]\""
    lab_machine_cut g2
    lab_exec scancel "$job"
    check "a job whose node does not let go is completing, and still tells that node" lab_wait "the job to be completing" \
        20 tells jobs ".jobs[] | select(.id == $job) | .state == \"COMPLETING\" and (.nodes | contains(\"2\"))"
    lab_machine_mend g2
}

last_update() {
    ask reservations '"since":0' | jq .last_update
}

facts_about_reservations() {
    local since
    check "no reservation is an empty list" tells reservations '.changed and .reservations == []' '"since":0'
    lab_exec scontrol create reservation ReservationName=upgrade Nodes=g3,g4 StartTime=now+1hour Duration=60 Users=root \
        Flags=MAINT >/dev/null
    check "a reservation tells its nodes and times" tells reservations \
        '.reservations[0] | .name == "upgrade" and .nodes == "g[3-4]" and .end_time - .start_time == 3600 and
         (.flags | contains(["MAINT", "SPEC_NODES"]))' '"since":0'
    # Slurm keeps whole seconds.
    sleep 2
    since=$(last_update)
    check "what has not changed is not sent again" tells reservations '.changed == false and .reservations == null' "\"since\":$since"
    lab_exec scontrol delete ReservationName=upgrade
    check "the end of the last reservation is told" tells reservations '.changed and .reservations == []' "\"since\":$since"
}

facts_about_nodes() {
    lab_exec scontrol update nodename=g4 state=DRAIN reason='broken fan'
    check "a node tells who drained it, why and when" tells nodes \
        '.nodes[] | select(.name == "g4") | .reason == "broken fan" and .reason_uid == 0 and .reason_time > 1600000000' \
        '"since":0'
    check "a registered node tells its slurmd's version and its boot" tells nodes \
        '.nodes[] | select(.name == "g1") | (.version | length) > 4 and .boot_time > 1600000000' '"since":0'
}

helper_facts() {
    set -euo pipefail
    trap 'lab_stop' EXIT
    helper=$1
    if [[ -n ${2-} ]]; then
        LAB_SHARE=$(cd "$LAB_HOME/../.." && pwd)
    fi
    lab_start "${2:-/}"
    if [[ -z $helper ]]; then
        helper=/run/lab/muster-slurm
        compile_helper
    fi
    note "Slurm $LAB_VERSION"
    LAB_SLURM_CONF=$LAB_GPU_CONF
    lab_slurm_conf
    lab_slurmctld_start
    lab_exec scontrol create 'NodeName=g[1-4]' CPUs=2 RealMemory=100 Feature=muster_gpu NodeAddr='10.77.0.[11-14]' \
        State=FUTURE >/dev/null
    lab_exec scontrol update 'nodename=g[1-4]' state=DRAIN reason=muster:gathering
    local number
    for number in 1 2; do
        lab_slurmd "g$number" "10.77.0.1$number" 'CPUs=2 RealMemory=100 Feature=muster_gpu'
    done
    lab_wait "the nodes to register" 20 nodes_are_there || :
    facts_about_configuration
    facts_about_nodes
    facts_about_jobs
    facts_about_reservations
    if ((tap_failed)); then
        note "$(lab_log_tail 15)"
    fi
    tap_end
}

nodes_are_there() {
    [[ $(lab_exec sinfo -h -n 'g[1-2]' -o %D) == 2 ]]
}
