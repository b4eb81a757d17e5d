# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# slurm-conf-facts.sh: a group with registration: slurm_conf in front of a real slurmctld, from the first line of its file
# to the last. Each t24*-slurm-conf-*.t runs it for one Slurm version.
#
#   slurm_conf_facts           this machine's Slurm, with the plugins
#   slurm_conf_facts TREE      that of a tree, without them

. "$(dirname "${BASH_SOURCE[0]}")/lab.sh"
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

slurm_conf=/etc/slurm/slurm.conf
node_file=/etc/slurm/muster-nodes.conf

# cluster_file NAME ADDRESSES: for 3 nodes.
cluster_file() {
    cat >"$LAB_DIR/$1" <<END
cluster: listed
providers:
  lab: {type: exec, program: $cluster_provider, list_interval: 2 s}
instance_groups:
  - name: gpu
    partition: gpu
    target_count: 3
    min_count: 2
    provider: lab
    registration: slurm_conf
    node_addresses: $2
    node: {cpus: 2, memory: 500 MiB, gres: gpu:h100:4}
    settle_time: 500 ms
    prune_after: 1 s
END
}

start() {
    local number
    if [[ -n $1 ]]; then
        LAB_SHARE=$(cd "$LAB_HOME/../.." && pwd)
        lab_start "$1"
        cluster_into_tree "${top_builddir:?is set by make check}"
    else
        lab_start
        cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
    fi
    note "Slurm $LAB_VERSION"
    cluster_file cluster.yaml '10.77.9.[1-4]'
    cluster_file short.yaml '10.77.9.[1-2]'
    cluster_file names.yaml '["10.77.9.[1-2]", gpu-host]'
    for number in 1 2 3 4; do
        cluster_provider_does "gpu-$number" 'boot hold' "launch address 10.77.9.$number"
    done
    cluster_start /run/lab/programs /run/lab/cluster.yaml
    # Room for what the group grows to; MaxNodeCount is read at a start alone.
    lab_exec sed -i 's/^MaxNodeCount=.*/MaxNodeCount=4/' "$slurm_conf"
    slurmctld_again
}

# says PATTERN COMMAND...: what COMMAND prints, whether it succeeds or not, matches.
says() {
    local pattern=$1 answer
    shift
    answer=$(cluster_run "$@" 2>&1) || :
    echo "$answer"
    grep -Eq -- "$pattern" <<<"$answer"
}

waits_for() {
    lab_wait "\"$1\" in muster $3" 30 says "$@"
}

# The NodeName lines of the file are those of these nodes.
file_has() {
    [[ $(lab_exec sed -n 's/^NodeName=\([^ ]*\) .*/\1/p' "$node_file" | xargs) == "$*" ]]
}

slurm_has() {
    [[ $(lab_exec scontrol -o show node | sed -n 's/^NodeName=\([^ ]*\) .*/\1/p' | xargs) == "$*" ]]
}

# On slurmctld's side the file becomes true: by an operator, or where Slurm can do it, by musterd.
slurm_reads_the_file() {
    if lab_slurm_since 23.11; then
        lab_wait "slurmctld to have $*" 60 slurm_has "$@"
    else
        waits_for 'restart slurmctld' muster status || return 1
        slurmctld_again
        lab_wait "slurmctld to have $*" 30 slurm_has "$@"
    fi
}

nothing_is_launched() {
    [[ -z $(cluster_provider_log called launch 2>/dev/null) ]]
}

machine_is_asked_for() {
    [[ -n $(cluster_provider_log called launch "$1" 2>/dev/null) ]]
}

# is_closed NODE...
is_closed() {
    local node
    for node; do
        lab_exec scontrol -o show node "$node" | grep -Eq 'State=[A-Z*]*\+DRAIN.* Reason=muster: ' || return 1
    done
}

is_idle() {
    lab_exec scontrol -o show node "$1" | grep -Eq 'State=IDLE[ +]'
}

job_is() {
    [[ $(lab_exec squeue -h -j "$1" -t all -o %T) == "$2" ]]
}

hosts_in() {
    [[ $(sort -u "$LAB_DIR/$1" | xargs) == "$2" ]]
}

submit() {
    cluster_run sbatch --parsable -p gpu "$@"
}

# In good order: a job submitted just before a kill is lost, which is not what is tested here.
slurmctld_again() {
    lab_exec kill -TERM "$(lab_service_pid slurmctld)"
    lab_wait "slurmctld to end" 10 refuses lab_slurmctld_answers
    lab_wait "slurmctld to answer" 30 lab_slurmctld_answers
}

refuses() {
    ! "$@"
}

facts_about_refusals() {
    check "too few addresses are refused" says 'expected the address of every node \(3\).*found 2' \
        muster apply -f /run/lab/short.yaml
    check "so is a name" says 'expected numeric addresses, each once, found "gpu-host"' muster apply -f /run/lab/names.yaml
    lab_exec bash -c "echo '# of the site' >$node_file"
    check "the group is applied" cluster_run muster apply -f /run/lab/cluster.yaml
    check "a file of somebody else is told" waits_for "$node_file: .* somebody else's and is left alone" muster status
    check "and left alone" test "$(lab_exec cat "$node_file")" = '# of the site'
    lab_exec bash -c "echo 'NodeName=gpu-2 CPUs=2 NodeAddr=10.77.9.2' >>$slurm_conf; rm $node_file"
    check "lines that slurmctld would not start with are told" waits_for 'found gpu-2, which slurmctld does not survive' \
        muster status
    refute "and are not put in place" lab_exec test -e "$node_file"
    lab_exec sed -i '/^NodeName=gpu-2/d' "$slurm_conf"
}

facts_about_the_file() {
    check "without them the file is written" lab_wait "the file" 30 file_has gpu-1 gpu-2 gpu-3
    check "each line has its address, and is UNKNOWN" lab_exec grep -qx \
        'NodeName=gpu-2 NodeAddr=10.77.9.2 CPUs=2 RealMemory=500 Gres=gpu:h100:4 Feature=muster_gpu State=UNKNOWN' "$node_file"
    check "the line that slurm.conf lacks is told" waits_for "add the line \"Include muster-nodes.conf\" to $slurm_conf" muster status
    check "nothing is launched before Slurm has the nodes" nothing_is_launched
    lab_exec bash -c "echo 'Include muster-nodes.conf' >>$slurm_conf"
    if ! lab_slurm_since 23.11; then
        check "a node says what it waits for" waits_for \
            'Now.*its line of slurm.conf: restart slurmctld, so that it takes in the lines of gpu-\[1-3\]' muster why gpu-1
        check "an event says it" says 'RestartNeeded: restart slurmctld' muster events
        check "still nothing is launched" nothing_is_launched
    fi
    check "Slurm reads the file" slurm_reads_the_file gpu-1 gpu-2 gpu-3
}

facts_about_the_gate() {
    check "machines are asked for" lab_wait "launches" 30 machine_is_asked_for gpu-3
    check "and the nodes are closed with our reason" lab_wait "drains" 5 is_closed gpu-1 gpu-2 gpu-3
    job=$(submit -N3 -o /run/lab/three --wrap 'srun hostname')
    check "a job for all of them waits" job_is "$job" PENDING
    slurmctld_again
    cluster_kill musterd
    check "a slurmctld that starts again has them closed" is_closed gpu-1 gpu-2 gpu-3
    cluster_provider_does gpu-1 'launch address 10.77.9.1'
    check "the first machine comes" lab_wait "gpu-1" 60 cluster_group_says gpu .Ready 1
    check "and is closed" is_closed gpu-1
    slurmctld_again
    check "also when slurmctld starts again" is_closed gpu-1 gpu-2 gpu-3
    check "the job waits" job_is "$job" PENDING
    cluster_provider_does gpu-2 'launch address 10.77.9.2'
    cluster_provider_does gpu-3 'launch address 10.77.9.3'
    check "with its MinCount the group opens" lab_wait "the gate" 60 cluster_group_says gpu .GateOpen true
    check "and the job runs" lab_wait "the job" 60 job_is "$job" COMPLETED
    check "on all three" hosts_in three 'gpu-1 gpu-2 gpu-3'
    check "the file is as it was" file_has gpu-1 gpu-2 gpu-3
}

facts_about_growth() {
    long=$(submit -N1 -w gpu-1 -c1 -o /dev/null --wrap 'sleep 1000')
    lab_wait "a job to run" 30 job_is "$long" RUNNING || :
    check "a target without an address is refused" says 'expected a target of 0 to 4, as many as it has node_addresses' \
        muster scale gpu 5
    cluster_provider_does gpu-4 'launch address 10.77.9.4'
    check "one more is wanted" cluster_run muster scale gpu 4
    cluster_kill musterd
    check "it gets a line, though musterd was killed" lab_wait "the file" 30 file_has gpu-1 gpu-2 gpu-3 gpu-4
    check "Slurm reads the new one" slurm_reads_the_file gpu-1 gpu-2 gpu-3 gpu-4
    check "the node comes and is open" lab_wait "gpu-4" 60 cluster_group_says gpu .Open 4
    check "the job that ran still runs" job_is "$long" RUNNING
    job=$(submit -N4 -n4 -c1 -o /run/lab/four --wrap 'srun hostname')
    check "a job runs over old nodes and the new one" lab_wait "the job" 60 job_is "$job" COMPLETED
    check "each of its steps reached all" hosts_in four 'gpu-1 gpu-2 gpu-3 gpu-4'
}

facts_about_departure() {
    lab_exec scontrol create reservation ReservationName=later Nodes=gpu-4 StartTime=now+1hour Duration=60 Users=root \
        >/dev/null
    check "the new one is to go" cluster_run muster remove gpu-4 --yes
    check "its machine ends" waits_for 'gpu-4 .*departed.*no reservation names it' muster nodes
    check "its line stays as long as a reservation names it" file_has gpu-1 gpu-2 gpu-3 gpu-4
    lab_exec scontrol delete ReservationName=later
    check "then it goes" lab_wait "the file" 30 file_has gpu-1 gpu-2 gpu-3
    check "Slurm drops the node" slurm_reads_the_file gpu-1 gpu-2 gpu-3
    check "and nothing is left to do" lab_wait "no warning" 30 refuses says warning muster status
    check "the job that ran still runs" job_is "$long" RUNNING
    check "no machine was launched twice" test -z "$(cluster_launched_twice)"
}

slurm_conf_facts() {
    set -euo pipefail
    trap 'lab_stop' EXIT
    start "${1-}"
    facts_about_refusals
    facts_about_the_file
    facts_about_the_gate
    facts_about_growth
    facts_about_departure
    if ((tap_failed)); then
        note "$(cluster_run muster status)"
        note "$(cluster_events)"
        note "$(lab_exec sinfo -N -l)"
        note "$(lab_log_tail 40)"
    fi
    tap_end
}
