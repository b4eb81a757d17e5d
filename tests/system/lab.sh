# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lab.sh: starts a private, real Slurm. A library: source it from bash.
#
# A lab is one set of namespaces with a small init. Head and machines live in it: the head is the lab itself (host name
# head, 10.77.0.1), each machine is a namespace of its own on the lab's bridge. When the init dies, every process,
# namespace and mount of the lab is gone, and it dies with the shell that started it (unless LAB_DETACH=1). Nothing
# outside is touched but LAB_DIR. In the lab LAB_DIR is /run/lab. A lab on a tree sees the folder LAB_SHARE, if that is
# set, as /mnt/muster.
#
#   lab_start [TREE]                  starts a lab on this machine's Slurm, or on that of a debootstrap tree
#   lab_stop                          ends it and removes LAB_DIR (kept if LAB_KEEP=1)
#   lab_attach DIR                    uses a lab that another shell has started
#   lab_exec COMMAND...               runs COMMAND on the head
#   lab_slurm_conf                    writes /etc/slurm; lines in LAB_SLURM_CONF take the place of the lab's own
#   lab_slurmctld_start [ARGUMENT...] starts slurmctld and waits until it answers
#   lab_slurmctld_kill [SIGNAL]       ends it, with KILL unless told otherwise
#   lab_service_start NAME COMMAND... keeps COMMAND running on the head; lab_service_pid NAME is its pid there
#   lab_service_hold NAME             before it is killed: it is not started again until lab_service_go NAME
#   lab_machine_start NAME ADDRESS COMMAND...
#   lab_head_start NAME ADDRESS       a second head: a machine that sees /etc/slurm
#   lab_machine_kill NAME             pulls the plug
#   lab_on NAME COMMAND...            runs COMMAND on that machine
#   lab_machine_cut NAME, lab_machine_mend NAME     network cable out, in
#   lab_slurmd NAME ADDRESS CONF      a machine whose only service is slurmd -Z -N NAME --conf CONF
#   lab_wait WHAT SECONDS COMMAND...  polls COMMAND until it succeeds; after SECONDS says what it waited for and fails
#   lab_log_tail                      the end of every log, for a failed test

LAB_HOME=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LAB_DIR=
LAB_PID=
LAB_INIT=
LAB_VERSION=
LAB_SLURM_CONF=${LAB_SLURM_CONF-}
LAB_MAX_NODES=${LAB_MAX_NODES-64}

lab_fail() {
    echo "lab: $*" >&2
    return 1
}

lab_wait() {
    local what=$1 seconds=$2
    shift 2
    local end=$((${EPOCHREALTIME/./} + seconds * 1000000))
    until "$@" >/dev/null 2>&1; do
        if ((${EPOCHREALTIME/./} > end)); then
            echo "lab: waited $seconds s in vain for: $what" >&2
            return 1
        fi
        sleep 0.1
    done
}

# --- the lab -----------------------------------------------------------------------------------------------------------

lab_start() {
    local tree=${1:-/}
    [[ $(id -u) == 0 ]] || lab_fail "needs root" || return 1
    LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/muster-lab.XXXXXX")
    # Slurm refuses state that others could write, and job users must be able to read.
    chmod 755 "$LAB_DIR"
    mkdir "$LAB_DIR/log" "$LAB_DIR/state" "$LAB_DIR/machines"
    cp "$LAB_HOME/lab-inside" "$LAB_DIR/"
    local leash=(setpriv --pdeathsig KILL)
    [[ -z ${LAB_DETACH-} ]] || leash=(setsid)
    env -u SLURM_CONF LC_ALL=C LAB_SHARE="${LAB_SHARE-}" "${leash[@]}" \
        unshare --mount --pid --net --uts --ipc --fork --kill-child=KILL --mount-proc \
        "$LAB_DIR/lab-inside" boot "$tree" "$LAB_DIR" </dev/null >"$LAB_DIR/log/init.log" 2>&1 &
    LAB_PID=$!
    disown "$LAB_PID"
    if ! lab_wait "the lab to boot" 20 lab_has_booted; then
        cat "$LAB_DIR/log/init.log" >&2
        lab_stop
        return 1
    fi
    LAB_INIT=$(pgrep -o -P "$LAB_PID")
    echo "$LAB_PID" >"$LAB_DIR/pid"
    LAB_VERSION=$(lab_exec slurmctld -V | sed -n 's/^[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
}

lab_has_booted() {
    [[ -e $LAB_DIR/up ]]
}

lab_is_up() {
    [[ -n $LAB_PID ]] && tr '\0' ' ' <"/proc/$LAB_PID/cmdline" 2>/dev/null | grep -qF "lab-inside boot" &&
        tr '\0' ' ' <"/proc/$LAB_PID/cmdline" | grep -qF "$LAB_DIR"
}

lab_attach() {
    LAB_DIR=$1
    LAB_PID=$(cat "$LAB_DIR/pid" 2>/dev/null) || lab_fail "no lab in $1" || return 1
    lab_is_up || lab_fail "the lab in $1 is not running" || return 1
    LAB_INIT=$(pgrep -o -P "$LAB_PID")
    LAB_VERSION=$(lab_exec slurmctld -V | sed -n 's/^[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
}

lab_stop() {
    local result=0
    if lab_is_up; then
        kill -KILL "$LAB_PID"
        lab_wait "the lab to end" 20 lab_is_gone || result=1
    fi
    if [[ -n $LAB_DIR && -z ${LAB_KEEP-} ]]; then
        rm -rf "$LAB_DIR"
    fi
    LAB_PID=
    LAB_INIT=
    return "$result"
}

# The end of unshare is seen first; its pid namespace is empty a moment later.
lab_is_gone() {
    ! [[ -e /proc/$LAB_PID ]] && ! [[ -n $LAB_INIT && -e /proc/$LAB_INIT ]]
}

lab_exec() {
    nsenter -t "$LAB_INIT" -m -p -n -u -i -r -w -- "$@"
}

lab_log_tail() {
    local log
    for log in "$LAB_DIR"/log/*.log "$LAB_DIR"/machines/*/log; do
        [[ -s $log ]] || continue
        echo "== $log"
        tail -n "${1:-10}" "$log"
    done
}

# --- Slurm -------------------------------------------------------------------------------------------------------------

# True when the lab's Slurm is at least VERSION.
lab_slurm_since() {
    [[ $(printf '%s\n%s\n' "$1" "$LAB_VERSION" | sort -V | head -n 1) == "$1" ]]
}

lab_cgroup_conf() {
    if lab_slurm_since 23.02; then
        echo 'CgroupPlugin=disabled'
    elif [[ $(stat -f -c %T /sys/fs/cgroup) == cgroup2fs ]]; then
        printf 'CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\n'
    else
        echo 'CgroupPlugin=cgroup/v1'
    fi
}

lab_slurm_conf() {
    lab_exec bash -c 'cat >/etc/slurm/cgroup.conf' < <(lab_cgroup_conf)
    lab_exec bash -c 'cat >/etc/slurm/gres.conf' <<<'Name=gpu Type=h100 File=/dev/fakegpu[0-3]'
    lab_exec bash -c 'cat >/etc/slurm/slurm.conf' < <(lab_slurm_conf_lines)
}

# A key that is given twice makes every Slurm command complain, so the lab's own line gives way.
lab_slurm_conf_lines() {
    awk -F= 'NR == FNR { given[tolower($1)]; next } !(tolower($1) in given)' <(echo "$LAB_SLURM_CONF") - <<END
ClusterName=lab
SlurmctldHost=head(10.77.0.1)
SlurmUser=root
SlurmctldParameters=enable_configless
AuthType=auth/munge
StateSaveLocation=/run/lab/state
SlurmdSpoolDir=/run/slurmd-%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
MpiDefault=none
TreeWidth=65533
ReturnToService=2
MaxNodeCount=$LAB_MAX_NODES
SchedulerParameters=bf_interval=2,sched_interval=2
SlurmdTimeout=60
KillWait=2
END
    echo "$LAB_SLURM_CONF"
}

# What muster slurm-conf prints for a group named gpu, and a partition over everything.
LAB_GPU_CONF='NodeSet=muster_gpu Feature=muster_gpu
PartitionName=gpu Nodes=muster_gpu MaxTime=INFINITE
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE'

# The pid is written by the shell that becomes slurmctld, so it is right whatever happens to this one.
lab_slurmctld_start() {
    lab_exec setsid --fork bash -c 'echo $$ >/run/lab/slurmctld.pid; exec slurmctld -D "$@" >>/run/lab/log/slurmctld.log 2>&1' \
        slurmctld "$@" </dev/null
    lab_wait "slurmctld to answer" 30 lab_slurmctld_answers
}

lab_slurmctld_answers() {
    lab_exec timeout 5 scontrol ping | grep -q UP
}

lab_slurmctld_kill() {
    lab_exec bash -c '
        pid=$(cat /run/lab/slurmctld.pid) || exit 0
        kill "-$1" "$pid" 2>/dev/null || exit 0
        for ((i = 0; i < 300; i++)); do [[ -e /proc/$pid ]] || exit 0; sleep 0.05; done
        echo "lab: slurmctld survived $1" >&2; exit 1' kill "${1:-KILL}"
}

lab_service_start() {
    lab_exec /run/lab/lab-inside supervise "$@"
}

lab_service_pid() {
    cat "$LAB_DIR/$1.pid"
}

lab_service_hold() {
    : >"$LAB_DIR/$1.hold"
}

lab_service_go() {
    rm -f "$LAB_DIR/$1.hold"
}

lab_slurmctld_restart() {
    lab_slurmctld_kill TERM
    lab_slurmctld_start "$@"
}

# --- machines ----------------------------------------------------------------------------------------------------------

lab_machine_start() {
    lab_exec /run/lab/lab-inside machine "$@" >/dev/null
}

lab_head_start() {
    lab_exec env LAB_IS_HEAD=1 /run/lab/lab-inside machine "$1" "$2" sleep infinity >/dev/null
}

lab_machine_kill() {
    lab_exec /run/lab/lab-inside kill "$1"
}

lab_machine_cut() {
    lab_exec /run/lab/lab-inside cut "$1"
}

lab_machine_mend() {
    lab_exec /run/lab/lab-inside mend "$1"
}

lab_on() {
    lab_exec /run/lab/lab-inside on "$@"
}

lab_slurmd() {
    local name=$1 address=$2 conf=$3
    lab_machine_start "$name" "$address" slurmd -D -Z -N "$name" --conf "$conf" --conf-server head:6817
}
