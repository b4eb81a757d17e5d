#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The plugins in the Slurm of this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/job-submit.sh"
job_submit_facts "$(cd "${top_builddir:?run by make check}/spank_plugin" && pwd)"
