#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# musterd is killed at each step of a scale-up: all ends as without it.
set -euo pipefail
. "$(dirname "$0")/killed-at-each-step.sh"
killed_at_each_step musterd
