#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The SPANK module in the real sbatch, salloc and srun, without any daemon: a private slurm.conf is enough.
set -u
: "${top_builddir:=.}"
module=$top_builddir/spank_plugin/spank_muster.so
for program in srun sbatch salloc; do
    command -v $program >/dev/null || { echo "1..0 # SKIP no $program here"; exit 0; }
done
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cat >"$work/slurm.conf" <<TEXT
ClusterName=plugins
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=1
AuthType=auth/munge
PlugStackConfig=$work/plugstack.conf
NodeName=n1 NodeAddr=127.0.0.1
PartitionName=p Nodes=n1
TEXT
export SLURM_CONF="$work/slurm.conf"
printf '#!/bin/sh\n' >"$work/job"
count=0

report() { # RESULT NAME, with what the command printed in $work/out
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        sed 's/^/# /' "$work/out"
        echo "not ok $count - $2"
    fi
}
run() { timeout 10 "$@" >"$work/out" 2>&1 </dev/null; }

echo 1..8
# Required: a module that does not load stops the command.
echo "required $module" >"$work/plugstack.conf"
for program in srun sbatch salloc; do
    run $program --help
    grep -q -e '--min-count=N|auto|none' "$work/out"
    report $? "$program --help shows --min-count"
done

run sbatch --min-count=7x "$work/job"
test $? -ne 0 && grep -q "^sbatch: error: muster: --min-count: expected a number from 1 to 1000000, auto or none, got '7x'$" "$work/out"
report $? "sbatch refuses a wrong --min-count and says what is right"

run srun --min-count=0 true
test $? -ne 0 && grep -q "^srun: error: muster: --min-count: expected a number" "$work/out"
report $? "srun refuses a --min-count of 0"

# A libstdc++ that has nothing in it: whoever needs one fails at once.
mkdir "$work/broken"
cp /bin/true "$work/broken/libstdc++.so.6"
LD_LIBRARY_PATH="$work/broken" run srun --help
test $? -eq 0 && grep -q -e '--min-count' "$work/out"
report $? "srun works with a broken libstdc++ first in LD_LIBRARY_PATH"

echo "required $module colour=blue" >"$work/plugstack.conf"
run srun true
test $? -ne 0 && grep -q "muster: plugstack.conf: unknown argument 'colour=blue'" "$work/out"
report $? "an unknown argument in plugstack.conf refuses to load"

# The same with another word: the message above came from us and not from a missing file.
echo "optional $work/absent.so" >"$work/plugstack.conf"
run srun --help
grep -q -e '--min-count' "$work/out"
test $? -ne 0
report $? "without the module there is no --min-count"
