#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The gate's facts on the Slurm of this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/gate-facts.sh"
gate_facts
