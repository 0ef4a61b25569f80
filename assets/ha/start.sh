#!/usr/bin/env bash
# Starts a database that survives the loss of a server, in a temporary folder: three nodes of etcd, three servers of PostgreSQL with
# Patroni in strict synchronous mode, and three daemons that follow the primary. Opens the console on the second daemon. Without a
# terminal, it prints how to continue. Everything ends with this script, and nothing is left on disk.
#
#   start.sh [--database] [--asynchronous] [FOLDER OF THE PROGRAMS]
#
#   --database      starts no daemons, prints the URL of the database, and runs until its input ends
#   --asynchronous  switches the synchronous mode off: acknowledged changes can then be lost
set -euo pipefail
# shellcheck source=../cluster/daemons.sh
source "$(dirname "$0")/../cluster/daemons.sh"
alone=false
synchronous=true
while [[ ${1:-} == --* ]]; do
    case $1 in
    --database) alone=true ;;
    --asynchronous) synchronous=false ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
    esac
    shift
done
programs=$(realpath "${1:-target/release}")
folder=$(mktemp -d)
etcd=()
processes=()

end() { # end SIGNAL PROCESS...
    local process signal=$1
    shift
    for process in "$@"; do
        kill -CONT "$process" 2>/dev/null || true
        kill "-$signal" "$process" 2>/dev/null || true
    done
    for process in "$@"; do
        tail --pid="$process" -f /dev/null 2>/dev/null || true
    done
}
own() { # own NAME: the processes of a program that uses this folder, also those that a test has started
    local file words
    for file in /proc/[0-9]*/cmdline; do
        mapfile -d '' words 2>/dev/null <"$file" || continue
        [[ ${words[*]} != *"$folder/$1"* ]] || cut -d / -f 3 <<<"$file"
    done
}
finish() {
    trap '' HUP INT TERM
    trap - EXIT
    # The daemons end first, so that they can still write. Patroni stops its server when it ends.
    end INT "${processes[@]}"
    # shellcheck disable=SC2046 # one word for each process
    {
        # A test may have suspended some.
        kill -CONT $(own postgres) 2>/dev/null || true
        end TERM $(own patroni)
        end QUIT $(own postgres)
    }
    end TERM "${etcd[@]}"
    cd /
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# PostgreSQL of the newest Debian package, or in the search path. It rejects root.
server=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true)
server=${server:-$(dirname "$(command -v initdb)")}
as_postgres() { # as_postgres PROGRAM ARGUMENTS...
    if [ "$(id -u)" = 0 ]; then
        exec setpriv --reuid=postgres --regid=postgres --clear-groups env LC_ALL=C HOME="$folder" "$@"
    fi
    exec env LC_ALL=C HOME="$folder" "$@"
}

echo "starting etcd, PostgreSQL with Patroni, and the daemons, which takes up to a minute, in $folder"
chmod 711 "$folder"
cd "$folder"
mapfile -t ports < <(python3 - <<'PYTHON'
import socket
sockets = [socket.socket() for _ in range(12)]
for one in sockets:
    one.bind(("127.0.0.1", 0))
print("\n".join(str(one.getsockname()[1]) for one in sockets))
PYTHON
)
member=''
registry=''
hosts=''
for node in 0 1 2; do
    member+=${member:+,}etcd$node=http://127.0.0.1:${ports[node]}
    registry+=${registry:+,}127.0.0.1:${ports[node + 3]}
    hosts+=${hosts:+,}127.0.0.1:${ports[node + 6]}
done
for node in 0 1 2; do
    mkdir -m 700 "postgres$node" "etcd$node"
    [ "$(id -u)" = 0 ] && chown postgres:postgres "postgres$node" "etcd$node"
    (as_postgres etcd --name "etcd$node" --data-dir "$folder/etcd$node" \
        --listen-peer-urls "http://127.0.0.1:${ports[node]}" --initial-advertise-peer-urls "http://127.0.0.1:${ports[node]}" \
        --listen-client-urls "http://127.0.0.1:${ports[node + 3]}" --advertise-client-urls "http://127.0.0.1:${ports[node + 3]}" \
        --initial-cluster "$member" --initial-cluster-state new --logger zap >"etcd$node.log" 2>&1) &
    etcd+=($!)
    # A production system keeps ttl, loop_wait and retry_timeout at their defaults, see patroni.yml beside this script.
    cat >"patroni$node.yml" <<YAML
scope: quorate
name: postgres$node
restapi:
  listen: 127.0.0.1:${ports[node + 9]}
  connect_address: 127.0.0.1:${ports[node + 9]}
etcd3:
  hosts: $registry
bootstrap:
  dcs:
    ttl: 10
    loop_wait: 1
    retry_timeout: 3
    maximum_lag_on_failover: 1048576
    synchronous_mode: $synchronous
    synchronous_mode_strict: $synchronous
    postgresql:
      use_pg_rewind: true
      parameters:
        max_connections: 100
        wal_log_hints: on
  initdb:
    - encoding: UTF8
    - locale: C
    - auth: trust
  pg_hba:
    - local all all trust
    - host all all 127.0.0.1/32 trust
    - host replication all 127.0.0.1/32 trust
postgresql:
  bin_dir: $server
  data_dir: $folder/postgres$node/data
  pgpass: $folder/postgres$node/pgpass
  listen: 127.0.0.1:${ports[node + 6]}
  connect_address: 127.0.0.1:${ports[node + 6]}
  authentication:
    superuser: {username: postgres, password: unused}
    replication: {username: replicator, password: unused}
  parameters:
    unix_socket_directories: $folder/postgres$node
YAML
done
for node in 0 1 2; do
    (as_postgres patroni "$folder/patroni$node.yml" >"patroni$node.log" 2>&1) &
    # Who starts Patroni of a node again writes its process here.
    echo $! >"patroni$node.pid"
    # Its end is expected.
    disown
done
role() { # role NODE: what Patroni reports, such as primary or replica
    curl --silent --max-time 2 "http://127.0.0.1:${ports[$1 + 9]}/patroni" | jq -r 'select(.state == "running") | .role | sub("master"; "primary")' 2>/dev/null || true
}
until [ "$(for node in 0 1 2; do role $node; done | sort | tr '\n' ' ')" = 'primary replica replica ' ]; do
    for process in "${etcd[@]}" $(cat patroni?.pid); do
        kill -0 "$process" 2>/dev/null || { tail -n 20 ./*.log >&2; exit 1; }
    done
    sleep 0.2
done
query() { # query DATABASE TEXT: on the primary
    "$server/psql" -X -q -A -t -v ON_ERROR_STOP=1 -d "postgres://postgres@$hosts/$1?target_session_attrs=read-write" -c "$2"
}
query postgres 'CREATE ROLE quorate LOGIN'
query postgres "CREATE DATABASE quorate OWNER quorate ENCODING 'UTF8'"
url=postgres://quorate@$hosts/quorate
if $alone; then
    exec 3<&0
    echo "$url"
    # A signal does not wait for the end of the input.
    cat <&3 >/dev/null &
    wait $!
    exit 0
fi

start_daemons "$url"
show_daemons
control="patronictl -c $folder/patroni0.yml"
printf '%s\n' "the servers: $control list" "change the primary: $control switchover --force" \
    "end a server as a crash does: kill -9 \$(head -n 1 $folder/postgres0/data/postmaster.pid)"
use_daemons
