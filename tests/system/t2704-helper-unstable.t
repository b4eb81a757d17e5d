#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# muster-slurm in front of the Slurm of Debian unstable.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/helper-facts.sh"
tree=$("$here/tree" unstable)
helper_facts "" "$tree"
