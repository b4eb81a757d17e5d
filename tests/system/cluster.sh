# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# cluster.sh: a lab with muster in it. A library: source it from bash after lab.sh.
#
#   cluster_install BUILD FOLDER      installs the programs built in BUILD into FOLDER, whatever they were configured for
#   cluster_into_tree BUILD           in a lab on a tree: installs them as /run/lab/programs so that they run there, without
#                                     Slurm plugins; needs LAB_SHARE, the checkout
#   cluster_start FOLDER YAML         in a started lab: Slurm with muster's plugins, set up for YAML, and musterd
#   cluster_run COMMAND...            runs COMMAND on the head, in the checkout's folder, with muster's programs in PATH
#   cluster_status JQ                 prints JQ of muster status --json; cluster_group GROUP JQ that of one group
#   cluster_group_says GROUP JQ VALUE succeeds if that prints VALUE
#   cluster_events                    prints all events
#   cluster_slot NODE JQ              prints JQ of that node in muster nodes --json
#   cluster_slot_says NODE JQ VALUE   succeeds if that prints VALUE
#   cluster_node NODE FIELD           prints FIELD, without blanks in it, of scontrol show node, hidden ones too; State is
#                                     without DYNAMIC_NORM
#   cluster_records PREFIX            prints the names of all records that begin so, in one line
#   cluster_long_job NAME OPTION...   submits a job that runs until cluster_end_job NAME, and prints its number
#   cluster_job JOB FIELD             prints FIELD of scontrol show job; cluster_job_says JOB FIELD VALUE compares it
#   cluster_kill musterd|slurmctld    with SIGKILL; it is started again
#   cluster_slurmctld_again ARGUMENT...   kills slurmctld and has it started again with these arguments, this once
#
# Settings: CLUSTER_SLURM_CONF (more lines of slurm.conf), CLUSTER_PASS_INTERVAL, CLUSTER_SERVERS (noded's server:),
# CLUSTER_WITHOUT_PLUGINS (Slurm loads none of muster's).
# Both daemons are started again when they end, as systemd would. Their logs are LAB_DIR/log/{musterd,slurmctld}.log. The
# providers that go with it, conf/quickstart-provider and lab-provider, keep their state in LAB_DIR/provider. For the
# second one, cluster_provider in a test's cluster file, there are:
#
#   cluster_provider_does SCOPE [RULE...] from now on it obeys these rules for SCOPE, and no older ones; see lab-provider
#   cluster_machines JQ               prints JQ of the record of each machine that there is, sorted
#   cluster_machine NODE              prints the lab's name of the machine that NODE runs on, for lab_on and lab_machine_kill
#   cluster_provider_log WORD...      prints the lines of its log that begin with these words, without their times
#   cluster_launched_twice            prints each token for which more than one machine was made, and each node that has
#                                     more than one now

cluster_top=$(cd "$LAB_HOME/../.." && pwd)
# shellcheck disable=SC2034  # for tests
cluster_provider=$LAB_HOME/lab-provider

cluster_install() {
    local build=$1 folder=$2
    rm -rf "$folder"
    make -C "$build" install prefix="$folder" exec_prefix="$folder" bindir="$folder/bin" sbindir="$folder/sbin" \
        libexecdir="$folder/libexec" pkglibexecdir="$folder/libexec/muster" datarootdir="$folder/share" \
        sysconfdir="$folder/etc" slurmplugindir="$folder/lib/slurm" systemdsystemunitdir="$folder/lib/systemd/system" DESTDIR=
}

# A program keeps the tree's C and C++ libraries, which are newer than those it was built with, and gets all others from
# here. They are named to the loader and not in the environment: what the program starts is the tree's own. libslurm's name
# has the version in it, so muster-slurm is compiled there.
cluster_into_tree() {
    local build=$1 programs=$LAB_DIR/programs program library
    cluster_top=/mnt/muster
    cluster_provider=/mnt/muster/tests/system/lab-provider
    CLUSTER_WITHOUT_PLUGINS=1
    mkdir -p "$programs/bin" "$programs/sbin" "$programs/libexec/muster" "$LAB_DIR/libraries"
    for program in cli/muster:bin musterd/musterd:sbin noded/muster-noded:sbin; do
        cp "$build/${program%:*}" "$programs/real-$(basename "${program%:*}")"
        for library in $(ldd "$build/${program%:*}" | sed -n 's/.* => \(\/[^ ]*\).*/\1/p'); do
            case ${library##*/} in
            libc.* | libm.* | libstdc++.* | libgcc_s.* | libresolv.* | libpthread.* | libdl.* | librt.*) ;;
            *) cp -Lu "$library" "$LAB_DIR/libraries/" ;;
            esac
        done
        cat >"$programs/${program#*:}/$(basename "${program%:*}")" <<END
#!/bin/sh
exec $(ldd "$build/${program%:*}" | sed -n 's/^[[:space:]]*\(\/[^ ]*ld-linux[^ ]*\).*/\1/p') --library-path /run/lab/libraries \
    /run/lab/programs/real-$(basename "${program%:*}") "\$@"
END
        chmod 755 "$programs/${program#*:}/$(basename "${program%:*}")"
    done
    lab_exec bash -euc '
        cd /mnt/muster
        g++ -std=c++17 -O0 -I. -o /run/lab/programs/libexec/muster/muster-slurm slurm_helper/*.cpp sys/json.cpp \
            logic/value.cpp -lslurm'
}

cluster_run() {
    lab_exec env --chdir="$cluster_top" PATH=/run/lab/installed/bin:/run/lab/installed/sbin:/usr/sbin:/usr/bin:/sbin:/bin \
        "$@" </dev/null
}

cluster_configure() {
    local folder=$1 yaml=$2 partitions plugin_folder plugins
    ln -sfn "$folder" "$LAB_DIR/installed"
    plugin_folder=$(cd /usr/lib/*/slurm-wlm && pwd)
    partitions=$(cluster_run muster slurm-conf "$yaml") || return 1
    if [[ -n ${CLUSTER_WITHOUT_PLUGINS-} ]]; then
        partitions=$(grep -v '^JobSubmitPlugins=' <<<"$partitions")
        plugins=
    else
        plugins="PluginDir=$folder/lib/slurm:$plugin_folder
PlugStackConfig=/etc/slurm/plugstack.conf"
        lab_exec bash -c 'cat >/etc/slurm/plugstack.conf' <<<"optional $folder/lib/slurm/spank_muster.so"
    fi
    LAB_SLURM_CONF="$partitions
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE
$plugins
${CLUSTER_SLURM_CONF-}"
    lab_slurm_conf
    lab_exec mkdir -p /etc/muster /run/muster /run/lab/muster
    lab_exec bash -c 'cat >/etc/muster/musterd.yaml' <<END
state_directory: /run/lab/muster
slurm_helper: $folder/libexec/muster/muster-slurm
pass_interval: ${CLUSTER_PASS_INTERVAL-1 s}
END
    # /etc is seen by head and machines alike; this file is for the machines.
    lab_exec bash -c 'cat >/etc/muster/noded.yaml' <<END
server: ${CLUSTER_SERVERS-http://10.77.0.1:6820}
identity:
  sources: [file]
  file: /run/instance-id
state_directory: /run/muster-noded/state
device_pattern:
  gpu: /dev/fakegpu[0-9]*
END
}

cluster_start() {
    cluster_configure "$@" || return 1
    # A test may have it started once with -c or the like.
    lab_service_start slurmctld bash -c 'arguments=$(cat /run/lab/slurmctld.once 2>/dev/null)
        rm -f /run/lab/slurmctld.once
        exec slurmctld -D $arguments'
    lab_wait "slurmctld to answer" 20 lab_slurmctld_answers || return 1
    lab_service_start musterd env PATH="$1/bin:$1/sbin:/usr/sbin:/usr/bin:/sbin:/bin" "$1/sbin/musterd" --config /etc/muster/musterd.yaml
    lab_wait "musterd to answer" 20 cluster_run muster status --json
}

cluster_status() {
    cluster_run muster status --json 2>/dev/null | jq -r "$1"
}

cluster_group() {
    cluster_status ".Groups[] | select(.Name == \"$1\") | $2"
}

cluster_group_says() {
    [[ $(cluster_group "$1" "$2") == "$3" ]]
}

cluster_slot() {
    cluster_run muster nodes --json 2>/dev/null | jq -r --arg name "$1" ".Nodes[] | select(.Name == \$name) | $2"
}

cluster_slot_says() {
    [[ $(cluster_slot "$1" "$2") == "$3" ]]
}

cluster_node() {
    lab_exec scontrol -F -o show node "$1" 2>/dev/null | grep -Eo "(^| )$2=[^ ]*" |
        sed 's/^[^=]*=//; s/+DYNAMIC_NORM//'
}

cluster_records() {
    lab_exec scontrol -F -o show node 2>/dev/null | sed -n "s/^NodeName=\($1[^ ]*\) .*/\1/p" | sort -V | xargs
}

# What it runs on and how often it was begun is told by a line of LAB_DIR/jobs/NAME for each beginning and each end.
cluster_long_job() {
    local name=$1
    shift
    mkdir -p -m 1777 "$LAB_DIR/jobs"
    cluster_run sbatch --parsable -J "$name" -o /dev/null "$@" --wrap "
        echo begun \$SLURM_JOB_NODELIST >>/run/lab/jobs/$name
        until [ -e /run/lab/jobs/$name.end ]; do sleep 0.2; done
        echo ended >>/run/lab/jobs/$name"
}

cluster_end_job() {
    touch "$LAB_DIR/jobs/$1.end"
}

cluster_job() {
    lab_exec scontrol -o show job "$1" 2>/dev/null | grep -Eo "(^| )$2=[^ ]*" | cut -d= -f2
}

cluster_job_says() {
    [[ $(cluster_job "$1" "$2") == "$3" ]]
}

# The end of a service is noticed by what supervises it, which starts it again after a second.
cluster_kill() {
    lab_exec kill -KILL "$(lab_service_pid "$1")"
}

cluster_slurmctld_again() {
    echo "$*" >"$LAB_DIR/slurmctld.once"
    cluster_kill slurmctld
    lab_wait "slurmctld to be started again" 10 cluster_has_taken_arguments
    lab_wait "slurmctld to answer" 20 lab_slurmctld_answers
}

cluster_has_taken_arguments() {
    ! [[ -e $LAB_DIR/slurmctld.once ]]
}

# Newest last, one a line.
cluster_events() {
    cluster_run muster events --number 1000
}

cluster_provider_does() {
    local control=$LAB_DIR/provider/control scope=$1
    shift
    mkdir -p "$control"
    # Renamed into place: a call that comes now finds the old rules or the new ones. New files are never control files.
    printf '%s\n' "$@" >"$LAB_DIR/provider/rules.new"
    mv "$LAB_DIR/provider/rules.new" "$control/$scope"
}

# A machine may go at any moment, and its record with it.
cluster_machines() {
    { cat "$LAB_DIR"/provider/i-*.json 2>/dev/null || :; } | jq -r "$1" | sort -V
}

cluster_machine() {
    cluster_machines "select(.node_name == \"$1\") | .instance_id"
}

cluster_provider_log() {
    sed -n "s/^[0-9.]* \($*\)/\1/p" "$LAB_DIR/provider/log"
}

cluster_launched_twice() {
    cluster_provider_log launched | cut -d' ' -f4 | sort | uniq -d
    cluster_machines .node_name | uniq -d
}
