#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The plugins in the Slurm of Debian 13.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/job-submit.sh"
tree=$("$here/tree" trixie)
job_submit_facts "" "$tree"
