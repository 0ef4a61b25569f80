#!/usr/bin/env bash
# Commands for the servers that start.sh has started, see `usage`.
set -euo pipefail
# shellcheck source=../cluster/postgres.sh
source "$(dirname "$(realpath "$0")")/../cluster/postgres.sh"

usage() {
    cat <<'TEXT'
Show and change the servers that start.sh has started

Usage: servers.sh FOLDER COMMAND

  list        shows the servers and their roles
  switchover  makes another server the primary
  kill        ends the primary and its Patroni at once, as the loss of its machine does
  start       starts Patroni where it does not run, which starts its server
TEXT
}
case "$*" in
-h | --help) usage && exit ;;
esac
[ $# = 2 ] && [ -f "$1/patroni0.yml" ] || { usage >&2; exit 2; }

primary() { # prints its number. Each Patroni knows it, and those that were killed do not answer
    local address
    while read -r address; do
        curl --silent --noproxy '*' --max-time 3 "http://$address/cluster" |
            jq -er '.members[] | select(.role == "leader") | .name | ltrimstr("postgres")' && return
    done <addresses
    return 1
}
runs() { # runs FILE: whether the process on the first line of the file is one of this folder
    [ -f "$1" ] && grep -qsF "$folder/" "/proc/$(head -n 1 "$1")/cmdline"
}
kill_primary() {
    local node server
    node=$(primary) || { echo "no primary is known now: try again after some seconds" >&2; exit 1; }
    runs "patroni$node.pid" || { echo "server $node was killed: another one becomes the primary after some seconds" >&2; exit 1; }
    # Patroni first, because it would start its server again.
    kill -KILL "$(cat "patroni$node.pid")"
    server=postgres$node/data/postmaster.pid
    ! runs "$server" || kill -KILL "$(head -n 1 "$server")"
    echo "killed server $node, which was the primary, and its Patroni"
}
start() {
    local node
    find_postgres
    for node in 0 1 2; do
        runs "patroni$node.pid" && continue
        setsid "${as_postgres[@]}" patroni "$folder/patroni$node.yml" </dev/null >>"patroni$node.log" 2>&1 &
        # A test that starts Patroni again writes its process here, too.
        echo $! >"patroni$node.pid"
        echo "started Patroni of server $node"
    done
}
folder=$(realpath "$1")
cd "$folder"
case $2 in
list) patronictl -c patroni0.yml list ;;
switchover) patronictl -c patroni0.yml switchover --force ;;
kill) kill_primary ;;
start) start ;;
*) usage >&2; exit 2 ;;
esac
