#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The plugins in the Slurm of Debian unstable.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/job-submit.sh"
tree=$("$here/tree" unstable)
job_submit_facts "" "$tree"
