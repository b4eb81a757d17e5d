#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# muster-slurm in front of this machine's Slurm.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/helper-facts.sh"
helper_facts "$(cd "${top_builddir:?run by make check}/slurm_helper" && pwd)/muster-slurm"
