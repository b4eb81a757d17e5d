#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The gate's facts on the Slurm of Debian unstable.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/gate-facts.sh"
tree=$("$here/tree" unstable)
gate_facts "$tree"
