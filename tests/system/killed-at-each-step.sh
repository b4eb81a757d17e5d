# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# killed-at-each-step.sh: a group grows from nothing to three nodes while a daemon is killed, again and again, each time at
# another step of it, and another group shrinks to nothing. A library: source it from bash.
#
#   killed_at_each_step musterd|slurmctld     the whole test
#
# A step is a request that musterd makes: to slurmctld, through muster-slurm, or to the provider. Both programs are wrapped
# here, so that the victim dies at exactly that point: "before" the request is passed on, when it is written down but not
# done, or "after" it was answered, when it is done but nobody has heard of it. Steps without a request, which are what
# nodes report and Slurm shows, are seen in muster nodes.
#
# With MUSTER_CHECK_ALL=1 it dies at each step, also of the shrinking; without it at four that stand for them.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lab.sh"
. "$here/cluster.sh"
. "$here/tap.sh"

# killed_file A B: the cluster file with so many nodes in group a and in group b, all of them its minimum.
killed_file() {
    local group
    cat <<YAML
cluster: steps
providers:
  lab: {type: exec, program: /run/lab/provider-program, list_interval: 2 s}
instance_groups:
YAML
    for group in a b; do
        cat <<YAML
  - name: $group
    partition: $group
    target_count: $1
    min_count: $1
    provider: lab
    node: {cpus: 1, memory: 100 MiB, gres: gpu:h100:4}
    settle_time: 1 s
    register_timeout: 30 s
    prune_after: 0 s
YAML
        shift
    done
}

killed_apply() {
    killed_file "$@" >"$LAB_DIR/cluster.yaml"
    cluster_run muster apply -f /run/lab/cluster.yaml >/dev/null
}

killed_start() {
    lab_start
    cluster_install "${top_builddir:?is set by make check}" "$LAB_DIR/programs" >"$LAB_DIR/log/install.log" 2>&1
    killed_wrap_programs
    killed_file 0 0 >"$LAB_DIR/cluster.yaml"
    CLUSTER_SLURM_CONF='MaxNodeCount=32'
    cluster_start "$LAB_DIR/programs" /run/lab/cluster.yaml
    killed_apply 0 0
}

# kill-at says who dies when: "MOMENT STEP GROUP VICTIM". The first that finds its own moment there takes it away.
killed_wrap_programs() {
    local helper=$LAB_DIR/programs/libexec/muster/muster-slurm
    mv "$helper" "$helper.wrapped"
    cat >"$LAB_DIR/hook" <<'HOOK'
hook() { # MOMENT STEP REQUEST
    local moment step group victim
    [[ $2 != undrain || $1 != before || ! $3 =~ \"([ab])- ]] || touch "/run/lab/opening-${BASH_REMATCH[1]}"
    { read -r moment step group victim </run/lab/kill-at; } 2>/dev/null || return 0
    [[ $1 == "$moment" && $2 == "$step" && ($3 == *"\"$group"[-\"]* || $2 == release) ]] || return 0
    mv /run/lab/kill-at /run/lab/killed-at 2>/dev/null || return 0
    kill -KILL "$(</run/lab/"$victim".pid)"
    [[ $victim != musterd ]] || exit 0
}
HOOK
    cat >"$helper" <<HELPER
#!/bin/bash
. /run/lab/hook
coproc inner { exec $helper.wrapped; }
read -r -u "\${inner[0]}" greeting && echo "\$greeting"
while read -r request; do
    [[ \$request =~ \"op\":\"([a-z]*)\" ]] && step=\${BASH_REMATCH[1]}
    [[ \$request =~ \"state\":\"([A-Z]*)\" ]] && step=\${BASH_REMATCH[1],,}
    [[ \$step != idle ]] || step=undrain
    hook before "\$step" "\$request"
    echo "\$request" >&"\${inner[1]}"
    read -r -u "\${inner[0]}" answer || exit 1
    hook after "\$step" "\$request"
    echo "\$answer"
done
HELPER
    cat >"$LAB_DIR/provider-program" <<PROGRAM
#!/bin/bash
. /run/lab/hook
request=\$(cat)
hook before "\$1" "\$request"
answer=\$($cluster_provider "\$1" <<<"\$request")
result=\$?
hook after "\$1" "\$request"
echo "\$answer"
exit \$result
PROGRAM
    chmod 755 "$helper" "$LAB_DIR/provider-program"
}

killed_has_happened() {
    [[ -e $LAB_DIR/killed-at ]]
}

# killed_has_reached GROUP STATE: a node of it is so far, or farther.
killed_has_reached() {
    local state
    for state in $(cluster_run muster nodes "$1" --json | jq -r '.Nodes[].Step'); do
        [[ " launching booting registering settling ready in-service " == *" $2 "*"$state "* ]] && return
    done
    return 1
}

killed_submit() {
    cluster_run sbatch --parsable -p "$1" -N3 -n3 --gres=gpu:4 -o /dev/null --wrap 'srun true' >"$LAB_DIR/job" 2>/dev/null
}

# While the group gathers none of its nodes is open. The state is read first and the permission afterwards.
killed_watch() {
    local group=$1 open
    while [[ -e $LAB_DIR/watching ]]; do
        open=$(lab_exec timeout 5 scontrol -o show node 2>/dev/null | grep "^NodeName=$group-" |
            sed -n 's/NodeName=\([^ ]*\) .* State=\([^ ]*\).*/\1 is \2/p' | grep -v DRAIN | xargs) || :
        [[ -z $open || -e $LAB_DIR/opening-$group ]] || echo "while the group gathers $open"
        sleep 0.1
    done
}

killed_group_is() {
    cluster_group_says "$1" '"\(.Status) \(.Ready)/\(.Open)/\(.TargetCount) min \(.MinCount)"' "$2"
}

killed_machines() {
    cluster_machines .node_name | xargs
}

killed_is_settled() {
    killed_group_is "$1" 'InService 3/3/3 min 3' && killed_group_is "$2" 'InService 0/0/0 min 0' &&
        [[ $(killed_machines) == "$1-1 $1-2 $1-3" && $(cluster_records "[ab]-") == "$1-1 $1-2 $1-3" ]]
}

# Prints what is not as it would be without a kill.
killed_differences() {
    local group=$1 other=$2 launches
    lab_wait "group $group to be complete and $other to be gone" 120 killed_is_settled "$group" "$other" || {
        cluster_status '.Groups[] | "\(.Name) \(.Status) \(.Ready)/\(.Open)/\(.TargetCount)"'
        echo "machines: $(killed_machines); records: $(cluster_records '[ab]-')"
    }
    lab_wait "a job on its three nodes" 60 cluster_job_says "$(cat "$LAB_DIR/job")" JobState COMPLETED ||
        echo "its job is $(cluster_job "$(cat "$LAB_DIR/job")" JobState)"
    launches=$(cluster_provider_log launched | wc -l)
    [[ $launches == "$3" ]] || echo "$launches launches so far, expected $3"
    cluster_launched_twice
    cat "$LAB_DIR/violations"
}

killed_is_same() {
    local differences
    differences=$(killed_differences "$@" 2>&1)
    [[ -z $differences ]] || { echo "$differences" && return 1; }
}

# killed_at VICTIM MOMENT STEP [OTHER]: the group that grew last shrinks, the other one grows. With OTHER the step is one of
# the group that shrinks.
killed_at() {
    local victim=$1 moment=$2 step=$3 whose=${4-} group=$killed_next other watch scope
    other=$([[ $group == a ]] && echo b || echo a)
    killed_next=$other
    scope=$([[ -z $whose ]] && echo "$group" || echo "$other")
    rm -f "$LAB_DIR"/{killed-at,opening-a,opening-b}
    : >"$LAB_DIR/watching"
    killed_watch "$group" >"$LAB_DIR/violations" &
    watch=$!
    if [[ $moment != at ]]; then
        echo "$moment $step $scope $victim" >"$LAB_DIR/kill-at.new"
        mv "$LAB_DIR/kill-at.new" "$LAB_DIR/kill-at"
    fi
    if [[ $group == a ]]; then killed_apply 3 0; else killed_apply 0 3; fi
    # What slurmctld was told a moment before its end may be forgotten, so the job comes later unless it is what matters.
    [[ $step != release ]] || lab_wait "sbatch" 30 killed_submit "$group"
    if [[ $moment == at ]]; then
        lab_wait "$step" 60 killed_has_reached "$scope" "$step"
        cluster_kill "$victim"
    else
        lab_wait "the step" 60 killed_has_happened || :
    fi
    [[ $step == release ]] || lab_wait "sbatch" 60 killed_submit "$group"
    killed_launches=$((killed_launches + 3))
    if [[ $moment == at ]] || killed_has_happened; then
        check "$victim killed $moment $step${whose:+ of a group that shrinks}: all ends in the same place" \
            killed_is_same "$group" "$other" "$killed_launches"
    else
        fail "$victim killed $moment $step: the step comes"
    fi
    rm -f "$LAB_DIR"/{watching,kill-at}
    wait "$watch"
}

killed_everywhere() {
    local victim=$1 moment step
    for step in create drain launch addresses undrain release; do
        for moment in before after; do
            killed_at "$victim" "$moment" "$step"
        done
    done
    for step in booting registering settling ready; do
        killed_at "$victim" at "$step"
    done
    for step in drain terminate future delete; do
        for moment in before after; do
            killed_at "$victim" "$moment" "$step" other
        done
    done
}

killed_at_each_step() {
    local victim=$1
    trap 'rm -f "$LAB_DIR/watching"; lab_stop' EXIT
    killed_next=a
    killed_launches=0
    killed_start
    if [[ -n ${MUSTER_CHECK_ALL-} ]]; then
        killed_everywhere "$victim"
    else
        killed_at "$victim" after launch
        killed_at "$victim" at registering
        killed_at "$victim" before undrain
        killed_at "$victim" after release
    fi
    if ((tap_failed)); then
        note "$(cluster_events)"
        note "$(lab_exec scontrol -F -o show node)"
        note "$(tail -n 100 "$LAB_DIR/log/musterd.log")"
    fi
    tap_end
}
