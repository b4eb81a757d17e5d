#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the plugin modules show to Slurm, and what they want from the process they are loaded into.
set -u
: "${top_builddir:=.}"
plugins=$top_builddir/spank_plugin
count=0

same() { # NAME EXPECTED FOUND
    count=$((count + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $count - $1"
    else
        echo "# expected: $2"
        echo "# found:    $3"
        echo "not ok $count - $1"
    fi
}
one_line() { sort | tr '\n' ' ' | sed 's/ $//'; }
exported() { nm -D --defined-only "$plugins/$1" | awk '{ print $3 }' | one_line; }
# The C library's symbols have a version; weak ones may be missing.
wanted() { nm -D --undefined-only "$plugins/$1" | awk '$1 == "U" && $2 !~ /@/ { print $2 }' | one_line; }
libraries() {
    LC_ALL=C readelf -d "$plugins/$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' | one_line
}

echo 1..6
same "spank_muster.so exports its callbacks and nothing else" \
    "plugin_name plugin_type plugin_version slurm_spank_init spank_plugin_version" "$(exported spank_muster.so)"
same "spank_muster.so wants only these symbols of Slurm" \
    "slurm_error spank_context spank_option_register" "$(wanted spank_muster.so)"
same "spank_muster.so needs the C library alone" "libc.so.6" "$(libraries spank_muster.so)"
same "job_submit_muster.so exports its callbacks and nothing else" \
    "job_modify job_submit plugin_name plugin_type plugin_version" "$(exported job_submit_muster.so)"
same "job_submit_muster.so wants only these symbols of Slurm" \
    "slurm_error slurm_xfree slurm_xstrdup" "$(wanted job_submit_muster.so)"
same "job_submit_muster.so needs the C library alone" "libc.so.6" "$(libraries job_submit_muster.so)"
