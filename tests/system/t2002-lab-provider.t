#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What lab-provider promises to the tests that write its control files.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lab.sh"
. "$here/cluster.sh"
. "$here/tap.sh"
trap 'lab_stop' EXIT

call() {
    local operation=$1
    shift
    jq -n -c '$ARGS.named' "$@" | lab_exec timeout 20 "$cluster_provider" "$operation"
}

# launch N [TOKEN] prints the machine's id; an attempt is 1 unless ATTEMPT says otherwise.
launch() {
    call launch --arg group g --arg node_name "g-$1" --argjson attempt "${ATTEMPT-1}" --arg token "${2-t$1}" | jq -r '.instance_id // .error.class'
}

# listed JQ: what is listed, one line each, sorted.
listed() {
    call list --arg group g | jq -r ".instances[] | $1" | sort | xargs
}

is_listed() {
    [[ $(listed "$1") == "$2" ]]
}

boot_id() {
    lab_on "$1" cat /proc/sys/kernel/random/boot_id
}

# The end of a call by SIGTERM is timeout's, since nobody answered.
does_not_answer() {
    local result=0
    lab_exec timeout 1 "$cluster_provider" "$1" <<<'{"group": "g", "node_name": "g-1", "token": "t1"}' || result=$?
    ((result == 124))
}

lab_start
one=$(launch 1)
two=$(launch 2)
check "a launch makes a machine" lab_on "$one" test "$(lab_on "$one" hostname)" = g-1
check "the same token names the same machine" test "$(launch 1)" = "$one"
check "machines are listed" is_listed '"\(.token) \(.state)"' 't1 running t2 running'
check "machines of another group are not" test "$(call list --arg group other)" = '{"instances": []}'
check "a node's machine has a name in the lab" test "$(cluster_machine g-1)" = "$one"

cluster_provider_does g 'launch fail quota no more than two'
check "a rule of the group makes a launch fail" test "$(launch 3)" = quota
cluster_provider_does g-3 'launch@2 fail capacity none left'
check "a node's rule for another attempt does not count" test "$(launch 3)" = quota
check "for this attempt it goes before the group's" test "$(ATTEMPT=2 launch 3)" = capacity
cluster_provider_does g 'launch lose-answer'
cluster_provider_does g-3
refute "an answer can be lost" launch 3
cluster_provider_does g
check "though the machine was made" is_listed .token 't1 t2 t3'
cluster_provider_does all 'launch hang' 'reboot hang' 'terminate answer {"error": 5}' 'list answer nonsense'
check "a launch can hang" does_not_answer launch
check "a reboot can hang" does_not_answer reboot
check "an answer can be anything" test "$(call terminate)" = '{"error": 5}'
check "a list, too" test "$(call list)" = nonsense
cluster_provider_does all

cluster_provider_does g 'launch forget-token'
launch 4 >/dev/null
launch 4 >/dev/null
cluster_provider_does g
check "a forgetful provider launches the same token twice" is_listed .token 't1 t2 t3 t4 t4'
check "which does not escape the test" test "$(cluster_launched_twice | xargs)" = 't4 g-4'

cluster_provider_does g-1 'list missing'
cluster_provider_does g-2 'list terminated'
cluster_provider_does g-3 'list tokenless'
check "lists can lie about each machine" is_listed '"\(.token) \(.state)"' \
    'null running t2 terminated t4 running t4 running'
cluster_provider_does g-1
cluster_provider_does g-2
cluster_provider_does g-3
cluster_provider_does g 'list empty'
check "or about all" is_listed .token ''
cluster_provider_does g 'list late 600'
check "or know no new machine yet" is_listed .token ''
cluster_provider_does g

first_boot=$(boot_id "$two")
lab_on "$two" touch /run/here
call reboot --arg instance_id "$two" --arg node_name g-2 --arg token t2 >/dev/null
check "a reboot gives another boot id" test "$(boot_id "$two")" != "$first_boot"
refute "and an empty /run" lab_on "$two" test -e /run/here
lab_machine_kill "$two"
check "a machine that died is listed as terminated" is_listed 'select(.token == "t2") | .state' terminated

call terminate --arg instance_id "$one" --arg node_name g-1 --arg token t1 >/dev/null
check "a terminated machine is not listed" is_listed .token 't2 t3 t4 t4'
cluster_provider_does g 'list stale 600'
check "unless lists are stale" is_listed .token 't1 t2 t3 t4 t4'
cluster_provider_does g
check "its token makes no other machine" test "$(launch 1)" = transient
check "terminating it again is success" test "$(call terminate --arg instance_id "$one" --arg token t1)" = '{}'
check "calls and deeds are in the log" test "$(cluster_provider_log terminated)" = "terminated g-1 $one t1"
tap_end
