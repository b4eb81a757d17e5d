# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# job-submit.sh: job_submit_muster.so and spank_muster.so in a real slurmctld: admit, hold, refuse, by a gate table
# written here, byte by byte, so that the format is checked by somebody who did not write the reader. Each t22*.t runs it
# for one Slurm version.
#
#   job_submit_facts FOLDER       this machine's Slurm, with the modules in FOLDER
#   job_submit_facts "" TREE      that of a tree, with modules compiled there

. "$(dirname "${BASH_SOURCE[0]}")/lab.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# The sources are seen as /mnt/muster. Slurm loads plugins of its own version only, so a tree needs its own.
compile_plugins() {
    lab_exec bash -euc '
        mkdir -p /run/lab/plugins /run/lab/objects
        cd /mnt/muster
        flags="-std=c++17 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -O1 -I."
        common="spank_plugin/gate_file.cpp spank_plugin/job_request.cpp logic/gate_table.cpp logic/gres.cpp logic/hold_rule.cpp"
        link="-shared -static-libstdc++ -static-libgcc"
        for source in $common spank_plugin/job_submit_muster.cpp spank_plugin/spank_muster.cpp spank_plugin/spank_options.cpp
        do
            g++ $flags -DMUSTER_RUNDIR="\"/run/muster\"" -c "$source" -o "/run/lab/objects/$(basename "$source" .cpp).o"
        done
        cd /run/lab/objects
        g++ $link -Wl,--version-script=/mnt/muster/spank_plugin/job_submit_muster.map -o /run/lab/plugins/job_submit_muster.so \
            job_submit_muster.o gate_file.o job_request.o gate_table.o gres.o hold_rule.o
        g++ $link -Wl,--version-script=/mnt/muster/spank_plugin/spank_muster.map -o /run/lab/plugins/spank_muster.so \
            spank_muster.o spank_options.o gres.o hold_rule.o'
}

# Slurm's own plugins are where select/cons_tres is.
slurms_plugins() {
    lab_exec bash -c 'dirname "$(find /usr/lib /usr/lib64 -name select_cons_tres.so 2>/dev/null | head -n 1)"'
}

start_slurm_with() { # PLUGINS
    LAB_SLURM_CONF="$LAB_GPU_CONF
JobSubmitPlugins=muster
PluginDir=$1:$(slurms_plugins)"
    lab_slurm_conf
    echo "required $1/spank_muster.so" | lab_exec bash -c 'cat >/etc/slurm/plugstack.conf'
    lab_slurmctld_start
    lab_exec scontrol create 'NodeName=gpu-[1-6]' CPUs=2 RealMemory=100 Gres=gpu:h100:4 Feature=h100,muster_gpu \
        NodeAddr=192.0.2.1 State=FUTURE >/dev/null
    lab_exec scontrol update 'NodeName=gpu-[1-6]' State=DRAIN Reason=muster:gathering
}

# FNV-1a, 64 bits, which bash's arithmetic does by itself.
fnv() {
    local LC_ALL=C text=$1 sum=$((16#cbf29ce484222325)) i code
    for ((i = 0; i < ${#text}; i++)); do
        printf -v code %d "'${text:i:1}"
        sum=$(((sum ^ code) * 16#100000001b3))
    done
    printf %016x "$sum"
}

gate_table() { # TIME STATE READY OPEN
    local text
    text="muster-gate 1
time $1
cluster lab
default all
partition gpu 0
group gpu gpu $2 $3 $4 4 6 2 100 h100,muster_gpu gpu:h100:4 0
"
    text+="end 6 $(fnv "$text")"
    lab_exec bash -c 'mkdir -p /run/muster; cat >/run/muster/new; mv /run/muster/new /run/muster/gate-table' <<<"$text"
}

# submit ARGUMENT...: leaves its output in $said, the job id in $job, the result in $result.
submit() {
    result=0
    said=$(lab_exec sbatch -p gpu "$@" --wrap true 2>&1) || result=$?
    job=$(sed -n 's/^Submitted batch job //p' <<<"$said")
}
shows() { lab_exec scontrol show job "$job" | grep -E "$1"; }
is_held() { shows 'Priority=0 '; }
is_said() { grep -F -- "$1" <<<"$said"; }

job_submit_facts() {
    local plugins=$1 tree=${2-}
    command -v slurmctld >/dev/null || { echo "1..0 # SKIP no slurmctld here"; exit 0; }
    [[ $(id -u) == 0 ]] || { echo "1..0 # SKIP needs root"; exit 0; }
    trap lab_stop EXIT
    if [[ -n $tree ]]; then
        LAB_SHARE=${top_srcdir:?run by make check}
        lab_start "$tree"
        check "the plugins compile against Slurm $LAB_VERSION without a warning" compile_plugins
        plugins=/run/lab/plugins
    else
        lab_start
    fi
    start_slurm_with "$plugins"

    submit -N4
    refute "without a gate table a job is admitted" is_held

    gate_table "$(date +%s)" gathering 1 0
    submit -N4 --gres=gpu:4
    check "a job for a gathering group is accepted" test "$result" = 0
    check "and held" is_held
    check "the user is told in one line what is there and what is needed" is_said \
        "sbatch: muster: held until group gpu opens: 1 of 4 nodes ready (MinCount 4, target 6), job 4 nodes; see 'muster why JOBID'"
    check "its AdminComment says so too" shows 'AdminComment=muster: held until group gpu opens: 1 of 4 nodes ready'
    check "an update of a held job goes through" lab_exec scontrol update jobid="$job" comment=mine
    check "and leaves it held" is_held

    submit -N1 --min-count=5
    check "--min-count reaches the AdminComment" shows 'AdminComment=muster: held .*; min_count=5'

    submit -N7
    refute "a job of more nodes than the target is refused" test "$result" = 0
    check "and the user is told why" is_said \
    "muster: refused: the job asks for 7 nodes, partition gpu will never have more than 6 that fit (target of group gpu)"

    submit -N1 --min-count=7
    refute "a --min-count above the target is refused" test "$result" = 0

    submit -N2 -H
    check "a user's own hold is accepted" is_held
    refute "and stays the user's: no AdminComment" shows 'AdminComment=muster'
    check "the user is told both" is_said "the job is held by you too"

    job=$(lab_exec sbatch -p all -N1 --wrap true 2>&1 | sed -n 's/^Submitted batch job //p')
    refute "a job for a partition that is not ours is admitted" is_held

    job=$(lab_exec sbatch -p gpu,all -N1 --wrap true 2>&1 | sed -n 's/^Submitted batch job //p')
    refute "a job that names another partition as well is admitted" is_held

    job=$(lab_exec sbatch -N1 --wrap true 2>&1 | sed -n 's/^Submitted batch job //p')
    refute "a job without a partition is judged by the default one" is_held

    gate_table "$(date +%s)" open 4 4
    submit -N4
    refute "an open group admits what its nodes can serve" is_held
    submit -N6
    check "and holds what needs more" is_held
    submit -N6 --min-count=none
    refute "unless the job does not want to wait" is_held

    gate_table "$(($(date +%s) - 301))" gathering 0 0
    submit -N1
    refute "a table that was not refreshed for five minutes admits" is_held

    gate_table "$(date +%s)" gathering 0 0
    lab_exec bash -c 'head -c 100 /run/muster/gate-table >/run/muster/new; mv /run/muster/new /run/muster/gate-table'
    submit -N1
    refute "a torn table admits" is_held
    submit -N1
    check "and is logged once" test "$(grep -c 'muster: gate table: torn' "$LAB_DIR/log/slurmctld.log")" = 1

    gate_table "$(date +%s)" gathering 0 0
    submit -N1
    check "a table that is whole again holds" is_held
    lab_exec rm -rf /run/muster/gate-table
    lab_exec mkfifo /run/muster/gate-table
    submit -N1
    refute "a pipe in the place of the table neither holds nor blocks" is_held
    check "slurmctld answers at the end" lab_slurmctld_answers
    tap_end
}
