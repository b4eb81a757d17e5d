#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Nodes that have a line in slurm.conf, with the Slurm of this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/slurm-conf-facts.sh"
slurm_conf_facts
