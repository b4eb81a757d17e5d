#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Bad input gets a clear error, and nothing changes: each row spoils a good cluster file in one place.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lab.sh"
. "$here/cluster.sh"
. "$here/tap.sh"
trap 'lab_stop' EXIT

good_file() {
    cat <<END
cluster: refusals
providers:
  local:
    type: exec
    program: /run/lab/provider-program
    call_timeout: 2 s
instance_groups:
  - name: gpu
    partition: gpu
    target_count: 3
    min_count: 2
    provider: local
    node:
      cpus: 2
      memory: 500 MiB
END
}

records() {
    lab_exec scontrol -F -o show node 2>/dev/null | grep -c NodeName= || :
}

# refuses SENTENCE PATTERN SED: the file changed by SED is refused, for a reason that matches PATTERN.
refuses() {
    local sentence=$1 pattern=$2 edit=$3 before answer
    before=$(records)
    good_file | sed "$edit" >"$LAB_DIR/bad.yaml"
    if answer=$(cluster_run muster apply -f /run/lab/bad.yaml 2>&1); then
        fail "$sentence is refused"
        note "$answer"
    elif ! grep -Eqi -- "$pattern" <<<"$answer"; then
        fail "$sentence is refused with a clear reason"
        note "expected $pattern, found: $answer"
    elif [[ $(records) != "$before" ]]; then
        fail "$sentence is refused and changes nothing"
    else
        pass "$sentence is refused, with its reason, and changes nothing"
        note "$answer"
    fi
}

provider_is() {
    printf '#!/bin/bash\n%s\n' "$1" >"$LAB_DIR/provider-program"
    chmod 755 "$LAB_DIR/provider-program"
}

last_problem_has() {
    cluster_group gpu .LastProblem.Text | grep -Eqi -- "$1"
}

# keeps_going SENTENCE PATTERN SCRIPT: a provider that does SCRIPT is reported, and musterd goes on answering.
keeps_going() {
    provider_is "$3"
    check "$1" lab_wait "$2" 60 last_problem_has "$2"
    check "and musterd goes on" cluster_run muster status
}

lab_start
cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
provider_is 'echo "{\"error\":{\"class\":\"transient\",\"message\":\"not today\"}}"'
good_file >"$LAB_DIR/good.yaml"
CLUSTER_SLURM_CONF='MaxNodeCount=8
NodeSet=other-2 Feature=other'
cluster_start "$LAB_DIR/programs" /run/lab/good.yaml
lab_exec scontrol create NodeName=taken-2 CPUs=1 RealMemory=100 NodeAddr=192.0.2.1 State=FUTURE

bad=/run/lab/bad.yaml
refuses "an unknown key" "$bad:11:.*min_cuont" 's/min_count/min_cuont/'
refuses "a wrong type" "$bad:10:[0-9]+:.*target_count.*many" 's/target_count: 3/target_count: many/'
refuses "a MinCount above the count" "$bad:11:[0-9]+:.*min_count" 's/min_count: 2/min_count: 4/'
refuses "two groups with the same node names" "found that group gpu" '$a\
  - {name: two, partition: gpu, target_count: 1, provider: local, node_prefix: gpu-, node: {cpus: 1, memory: 1 GiB}}'
refuses "a partition that slurm.conf lacks" "partition.*nosuch" 's/partition: gpu/partition: nosuch/'
refuses "a node name that exists already" "taken-2" 's/provider: local/&\n    node_prefix: taken-/'
refuses "more nodes than MaxNodeCount" "MaxNodeCount" 's/target_count: 3/target_count: 30/'
refuses "a provider program that is missing" "nosuch" 's/provider-program/nosuch/'
refuses "a file that is no YAML" "$bad:" '1s/.*/cluster: [/'

check "a dry run of a good file succeeds" cluster_run muster apply --dry-run -f /run/lab/good.yaml
check "and changes nothing" test "$(records)" = 1
check "a good file is applied after all that" cluster_run muster apply -f /run/lab/good.yaml
lab_wait "its records" 20 bash -c '[[ $(nsenter -t "$1" -m -p -n -u -i -r -w scontrol -F -o show node | grep -c NodeName=) == 4 ]]' count "$LAB_INIT"
# 22.05 would make this record and never start again.
refuses "a node name that is a NodeSet's" "other-2" '$a\
  - {name: two, partition: gpu, target_count: 3, provider: local, node_prefix: other-, node: {cpus: 1, memory: 1 GiB}}'
# A member of the wrong type is not taken for absent: DryRun "true" is no order to apply.
wrong_type_is_refused() {
    lab_exec curl -s --unix-socket /run/muster/musterd.sock http://localhost/ -H 'X-Amz-Target: Muster.Apply' \
        -d '{"Text":"cluster: x","DryRun":"true"}' | grep -q 'DryRun: expected true or false'
}
check "a request with a member of the wrong type is refused" wrong_type_is_refused
second_musterd_is_refused() {
    local answer
    answer=$(cluster_run bash -c 'sed "s,pass_interval.*,run_directory: /run/second," /etc/muster/musterd.yaml >/run/second.yaml
        echo "port: 6999" >>/run/second.yaml; timeout 10 musterd --config /run/second.yaml' 2>&1) && return 1
    grep -q 'is locked' <<<"$answer"
}
check "a second musterd on the same ledger is refused" second_musterd_is_refused
keeps_going "a provider's own error reaches the operator" "not today" 'echo "{\"error\":{\"class\":\"transient\",\"message\":\"not today\"}}"'
keeps_going "a provider that dies is reported with its last words" "last words" 'echo "last words" >&2; kill -KILL $$'
keeps_going "a provider that answers rubbish is reported" "JSON|answer" 'echo rubbish'
keeps_going "a provider that hangs is killed and reported" "2 s|time" 'exec sleep 1000'
refute "and its process is gone" lab_wait "a hanging program left behind" 1 \
    bash -c '[[ $(nsenter -t "$1" -m -p -r pgrep -fc "sleep 1000") -gt 3 ]]' count "$LAB_INIT"

lab_exec bash -c 'pkill -KILL -o -f "lab-inside supervise-now musterd"; kill -KILL "$(cat /run/lab/musterd.pid)"'
refute "without musterd a command fails" cluster_run muster status
check "and says what it tried" bash -c 'grep -q musterd <<<"$1"' says "$(cluster_run muster status 2>&1 || :)"
if ((tap_failed)); then
    note "$(tail -n 60 "$LAB_DIR/log/musterd.log")"
fi
tap_end
