#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# muster doctor on a real Slurm: one thing after the other is broken, named with its mending, and mended.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lab.sh"
. "$here/cluster.sh"
. "$here/tap.sh"
trap 'lab_stop' EXIT

# --- what doctor says --------------------------------------------------------------------------------------------------

doctor() {
    cluster_run muster doctor "$@"
}

is_content() {
    local answer
    answer=$(doctor) && [[ $(tail -n 1 <<<"$answer") == "all is well" ]] || {
        echo "$answer"
        return 1
    }
}

# complains VERDICT CHECK FOUND MEND: exactly this is in the report (the last two are patterns), with its exit status.
complains() {
    local answer status=0
    answer=$(doctor --json 2>&1) || status=$?
    jq -e --arg verdict "$1" --arg check "$2" --arg found "$3" --arg mend "$4" '.Findings[] |
        select(.Verdict == $verdict and .Check == $check and (.Found | test($found)) and (.Mend | test($mend)))' \
        >/dev/null <<<"$answer" && [[ $status == "$(jq '[.Problems, 1] | min' <<<"$answer")" ]] || {
        echo "exit status $status"
        jq -c '.Findings[] | select(.Verdict != "OK")' <<<"$answer"
        return 1
    }
}

verdict_of() {
    doctor --json | jq -r --arg check "$1" '.Findings[] | select(.Check == $check).Verdict'
}

# verdict_is CHECK VERDICT
verdict_is() {
    [[ $(verdict_of "$1") == "$2" ]] || { echo "$1: $(verdict_of "$1")"; return 1; }
}

# --- breaking things ---------------------------------------------------------------------------------------------------

# set_conf SED: changes slurm.conf, beginning with the good one.
set_conf() {
    lab_exec bash -c 'sed "$1" /etc/slurm/good.conf >/etc/slurm/slurm.conf' set "${1-}"
}

restart_slurm() {
    cluster_kill slurmctld
    lab_wait "slurmctld to be started again" 20 is_another "$1"
    lab_wait "slurmctld to answer" 20 lab_slurmctld_answers
    lab_wait "musterd to see it" 20 musterd_sees_slurm
}

# The file of the supervisor is written when the new one has been started.
is_another() {
    [[ $(lab_service_pid slurmctld) != "$1" ]]
}

musterd_sees_slurm() {
    [[ $(cluster_status .Slurm.State) == up ]]
}

# with_conf SED: slurmctld runs with the good slurm.conf so changed.
with_conf() {
    set_conf "$1"
    restart_slurm "$(lab_service_pid slurmctld)"
}

# A supervisor that is stopped starts nothing again.
service_down() {
    lab_exec pkill -STOP -f "lab-inside supervise-now $1"
    lab_exec kill -KILL "$(lab_service_pid "$1")"
}

service_up() {
    lab_exec pkill -CONT -f "lab-inside supervise-now $1"
}

# A module that says it was built for this version, whatever it is.
read -ra compiler <<<"${CXX:-g++}"

module_of_version() {
    printf 'extern "C" { extern const unsigned plugin_version; const unsigned plugin_version = %s; }\n' "$1" >"$LAB_DIR/module.cpp"
    "${compiler[@]}" -shared -fPIC -o "$LAB_DIR/module.so" "$LAB_DIR/module.cpp"
    cp "$LAB_DIR/module.so" "$modules/$2.new"
    mv "$modules/$2.new" "$modules/$2"
}

# A clock that is wrong for one program alone: munged's stays right, as if the program's host had been set wrong since.
skewed_doctor() {
    printf '%s\n' '#include <ctime>' '#include <sys/syscall.h>' '#include <unistd.h>' \
        'extern "C" int clock_gettime(clockid_t clock, timespec* time) {' \
        '  const long result = syscall(SYS_clock_gettime, clock, time);' \
        '  if (clock == CLOCK_REALTIME) time->tv_sec += 400;' \
        '  return static_cast<int>(result);' '}' >"$LAB_DIR/skew.cpp"
    "${compiler[@]}" -shared -fPIC -o "$LAB_DIR/skew.so" "$LAB_DIR/skew.cpp"
    cluster_run env LD_PRELOAD=/run/lab/skew.so muster --server http://10.77.0.1:6820 doctor
}

# --- the story ---------------------------------------------------------------------------------------------------------

: "${CXX:=g++}"
lab_start
cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
modules=$LAB_DIR/programs/lib/slurm
cat >"$LAB_DIR/provider-program" <<'END'
#!/bin/bash
if [[ $1 == list ]]; then echo '{"instances":[]}'; else echo '{"error":{"class":"capacity","message":"none is free"}}'; fi
END
chmod 755 "$LAB_DIR/provider-program"
cat >"$LAB_DIR/cluster.yaml" <<'END'
cluster: doctor
providers:
  local:
    type: exec
    program: /run/lab/provider-program
    list_interval: 1 s
instance_groups:
  - name: gpu
    partition: gpu
    target_count: 3
    min_count: 2
    provider: local
    node:
      cpus: 2
      memory: 500 MiB
      gres: gpu:h100:4
END
CLUSTER_SLURM_CONF='MaxNodeCount=16'
cluster_start "$LAB_DIR/programs" /run/lab/cluster.yaml
lab_exec cp /etc/slurm/slurm.conf /etc/slurm/good.conf
check "before the first apply doctor says that there are no groups" \
    complains Warning "cluster file" "none was applied" "muster apply"
cluster_run muster apply -f /run/lab/cluster.yaml >/dev/null
lab_wait "the records" 20 bash -c '[[ $(nsenter -t "$1" -m -p -n -u -i -r -w scontrol -F -o show node | grep -c DRAIN) == 3 ]]' count "$LAB_INIT"
check "in a good set-up doctor is content" is_content
check "each finding is one line where nobody reads along" test "$(doctor | grep -c '^ok  ')" -gt 20

# Of slurm.conf: what runs, and what the next start would find.
with_conf 's/^MaxNodeCount=.*/MaxNodeCount=3/'
check "MaxNodeCount without room is a warning" complains Warning MaxNodeCount "no room beyond 3 nodes" "MaxNodeCount=11"
set_conf
check "a setting that was mended in the file asks for a restart" \
    complains Warning MaxNodeCount "no room" "slurm.conf is right already: restart slurmctld"
set_conf 's/^MaxNodeCount=.*/MaxNodeCount=2/'
check "a MaxNodeCount in the file that the next start would cut the nodes by is a problem" \
    complains Problem MaxNodeCount "2 is too small for 3 nodes" "MaxNodeCount=11"
with_conf 's/^ReturnToService=.*/ReturnToService=1/'
check "ReturnToService is named" complains Problem ReturnToService "1: .*stays DOWN" "ReturnToService=2"
with_conf 's/^GresTypes=.*//'
check "a missing GresTypes is named" complains Problem GresTypes "lacks gpu" "GresTypes=gpu"
with_conf 's/^NodeSet=.*//; s/^PartitionName=gpu .*/PartitionName=gpu Nodes=ALL/'
check "a partition over all nodes needs no NodeSet" verdict_is NodeSet OK
with_conf 's/^PartitionName=gpu .*/NodeSet=old Feature=old\nPartitionName=gpu Nodes=old/'
check "a partition without the group's nodes is named" complains Problem "partition gpu" "does not take in" "add muster_gpu"
with_conf 's/^SlurmctldParameters=.*//; $a SuspendTime=600\nSuspendProgram=/bin/true\nResumeProgram=/bin/true'
check "power saving over a group's nodes is named" complains Problem SuspendTime "partition gpu" "SuspendTime=INFINITE"
check "a slurmctld that serves no configuration is named" complains Warning configless "no slurm.conf" "enable_configless"
with_conf 's/^TreeWidth=.*/TreeWidth=2/; $a EnforcePartLimits=ALL'
check "a TreeWidth below the nodes is named" complains Warning TreeWidth "2 for 3 nodes" "65533"
check "EnforcePartLimits=ALL is named" complains Warning EnforcePartLimits "several partitions" "ANY"
with_conf ''
check "and once all that is mended, doctor is content" is_content
set_conf 's/^PartitionName=gpu .*/PartitionName=gpu Nodes=gpu-[1-3]/'
check "names of nodes in the file are a problem before slurmctld meets them" \
    complains Problem "partition gpu" "fine now, but .*lists gpu-\[1-3\] by name" NodeSet
set_conf
lab_exec scontrol update partitionname=gpu nodes=gpu-1
check "names of nodes in the running partition are one too" \
    complains Problem "partition gpu" "lists gpu-1 by name" "restart slurmctld"
lab_exec scontrol update partitionname=gpu nodes=muster_gpu
lab_exec scontrol update partitionname=gpu state=DOWN
check "a partition that is down is told" complains Warning "state of gpu" "DOWN" "state=UP"
check "and that its state does not last" complains Warning ReconfigFlags "only until" KeepPartState
lab_exec scontrol update partitionname=gpu state=UP

# Slurm's modules.
version=$(lab_exec slurmctld -V | sed 's/[^0-9]*//')
IFS=. read -r major minor micro <<<"$version"
own=$(((10#$major << 16) | (10#$minor << 8) | 10#$micro))
cp "$modules/job_submit_muster.so" "$LAB_DIR/good-job_submit.so"
cp "$modules/spank_muster.so" "$LAB_DIR/good-spank.so"
module_of_version $((own - 1)) job_submit_muster.so
check "a job_submit module of another micro version is a problem" \
    complains Problem job_submit/muster "slurmctld is $version: it does not start" "against Slurm $version"
service_down slurmctld
check "also while slurmctld is down" complains Problem job_submit/muster "slurmctld is $version: it does not start" "against"
check "which is told with what it was said by" complains Problem slurmctld "does not answer" "systemctl status slurmctld"
refute "slurmctld does not start with it, as doctor says" lab_exec timeout 3 slurmctld -D
cp "$LAB_DIR/good-job_submit.so" "$modules/job_submit_muster.so"
service_up slurmctld
lab_wait "slurmctld to answer" 20 lab_slurmctld_answers
lab_wait "musterd to see it" 20 musterd_sees_slurm
rm "$modules/job_submit_muster.so"
check "a job_submit module that is gone is a problem" \
    complains Problem job_submit/muster "no job_submit_muster.so" "take muster out of JobSubmitPlugins"
cp "$LAB_DIR/good-job_submit.so" "$modules/job_submit_muster.so"
module_of_version $((own - 256)) spank_muster.so
check "an optional SPANK module of another release is a warning" complains Warning spank/muster "was built for" "install"
lab_exec sed -i s/optional/required/ /etc/slurm/plugstack.conf
check "a required one is a problem" complains Problem spank/muster "no sbatch, salloc or srun works here" "install"
lab_exec sed -i s/required/optional/ /etc/slurm/plugstack.conf
cp "$LAB_DIR/good-spank.so" "$modules/spank_muster.so"

# Hosts.
lab_exec mv /run/munge/munge.socket.2 /run/munge/away
check "munge that is down is a problem" complains Problem munge "no credential" "systemctl restart munge"
lab_exec mv /run/munge/away /run/munge/munge.socket.2
lab_wait "musterd to see Slurm" 30 musterd_sees_slurm
check "a clock that is wrong is a problem" grep -q 'PROBLEM  clock  .*6 min 40 s ahead' <(skewed_doctor)
check "and one that is right is told so" grep -q '^ok       clock  .*agrees' <(cluster_run muster --server http://10.77.0.1:6820 doctor)
lab_exec bash -c 'sed -i "s/ head\$/ elsewhere/" /etc/hosts'
check "a head whose name does not resolve is a problem" complains Problem "head's name" "head .*does not resolve" "/etc/hosts"
lab_exec bash -c 'sed -i "s/ elsewhere\$/ head/" /etc/hosts'

# musterd's files.
lab_exec chmod 700 /run/muster
check "a gate table that slurmctld may not see is a problem" \
    complains Problem "gate table" "cannot be read by everybody" "a\+x on the folders"
lab_exec chmod 755 /run/muster
lab_exec mount -t tmpfs -o ro,size=1m full /run/lab/muster
check "a state directory on a read-only file system is a problem" \
    complains Problem "state directory" "read-only" "mount it for writing"
lab_exec mount -o remount,rw /run/lab/muster
lab_exec bash -c 'cat /dev/zero >/run/lab/muster/ballast' 2>/dev/null || :
check "and on a full one" complains Problem "state directory" "is full" "make room"
lab_exec umount -l /run/lab/muster
chmod 644 "$LAB_DIR/provider-program"
check "a provider that may not be executed is a problem" complains Problem "provider local" "may not be executed" "chmod"
chmod 755 "$LAB_DIR/provider-program"
lab_wait "the provider to list again" 20 is_content || :
check "and once all that is mended, doctor is content again" is_content

# What is not there says something too.
service_down musterd
check "a musterd that is away is a problem" complains Problem musterd "nobody listens" "systemctl start musterd"
check "and Slurm is looked at without it" lab_wait "slurmctld to be fine" 60 verdict_is slurmctld OK
check "with its settings" lab_wait "its settings to be fine" 60 verdict_is ReturnToService OK
service_down slurmctld
set_conf 's/^ReturnToService=.*/ReturnToService=0/'
check "with slurmctld away too, slurm.conf is looked at" complains Problem ReturnToService "0: " "ReturnToService=2"
check "and so is the module" verdict_is job_submit/muster OK
set_conf
service_up slurmctld
service_up musterd
lab_wait "slurmctld to answer" 20 lab_slurmctld_answers
lab_wait "musterd to answer" 20 musterd_sees_slurm
check "and when both are back, doctor is content" is_content
if ((tap_failed)); then
    note "$(tail -n 20 "$LAB_DIR/log/musterd.log")"
fi
tap_end
