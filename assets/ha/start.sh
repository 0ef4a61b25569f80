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
own() { # own FILE...: the processes on the first lines of files, as far as they still run in this folder
    local process
    for process in $(head -q -n 1 "$@" 2>/dev/null || true); do
        grep -qsF "$folder" "/proc/$process/cmdline" && echo "$process"
    done
    return 0
}
finish() {
    trap '' HUP INT TERM
    trap - EXIT
    # The daemons end first, so that they can still write. Patroni stops its server when it ends.
    end INT "${processes[@]}"
    local databases=("$folder"/postgres?/data/postmaster.pid)
    # shellcheck disable=SC2046 # one word for each process
    {
        # A test may have suspended some.
        kill -CONT $(own "${databases[@]}") 2>/dev/null || true
        end TERM $(own "$folder"/patroni?.pid)
        end QUIT $(own "${databases[@]}")
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
    curl --silent --max-time 2 "http://127.0.0.1:${ports[$1 + 9]}/patroni" | jq -r 'select(.state == "running") | .role' 2>/dev/null || true
}
until [ "$(for node in 0 1 2; do role $node; done | sort | tr '\n' ' ')" = 'master replica replica ' ]; do
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
    echo "$url"
    cat >/dev/null
    exit 0
fi

export XDG_CONFIG_HOME=$folder/config XDG_STATE_HOME=$folder/state XDG_CACHE_HOME=$folder/cache
passphrase='correct horse battery staple'
users=()
for user in mira jo; do
    key=$(echo "$passphrase" | "$programs/quorate" key add "$user" --json | jq -r .publicKey)
    users+=(--root-user "$user=$key")
done
for daemon in 1 2 3; do
    mkdir -m 700 "$folder/$daemon"
    cat >"$folder/$daemon/quorated.toml" <<TOML
[http]
listen = "127.0.0.1:0"

[socket]
path = "$folder/$daemon/socket"

[store]
path = "$folder/$daemon/data"
engine = "postgres"
url = "$url"

[key]
file = "$folder/root.key"
TOML
    if [ "$daemon" = 1 ]; then
        organization=$("$programs/quorated" init --config 1/quorated.toml --name treasury --threshold 2 "${users[@]}" | jq -r .organizationId)
    else
        "$programs/quorated" join --config "$daemon/quorated.toml" >/dev/null
    fi
    "$programs/quorated" serve --config "$daemon/quorated.toml" 2>"$daemon/log" &
    processes+=($!)
    until "$programs/quorate" --socket "$daemon/socket" status >/dev/null 2>&1; do
        kill -0 "${processes[-1]}" 2>/dev/null || { cat "$daemon/log" >&2; exit 1; }
        sleep 0.1
    done
done

api() { # api DAEMON: the address of its API
    "$programs/quorate" --socket "$folder/$1/socket" status --json | jq -r .baseUrl
}
# One activity waits for the vote of jo.
echo "$passphrase" | "$programs/quorate" --socket "$folder/1/socket" --user mira --key mira --organization "$organization" \
    --passphrase-fd 0 propose create-user-tag --set userTagName=payouts >/dev/null || [ $? = 5 ]
"$programs/quorate" --socket "$folder/3/socket" status | grep -E '^(daemons|engine)'
printf '%s\n' "organization $organization, root users mira and jo, passphrase of their keys: $passphrase" \
    "mira has proposed a user tag at daemon 1, which waits for the vote of jo"
for daemon in 1 2 3; do
    echo "daemon $daemon: API $(api "$daemon"), console: XDG_CONFIG_HOME=$XDG_CONFIG_HOME $programs/quorate --socket $folder/$daemon/socket --user jo --key jo --organization $organization"
done
control="patronictl -c $folder/patroni0.yml"
printf '%s\n' "the servers: $control list" "change the primary: $control switchover --force" \
    "end a server as a crash does: kill -9 \$(head -n 1 $folder/postgres0/data/postmaster.pid)"
if [ -t 0 ] && [ -t 1 ]; then
    read -r -p 'Enter opens the console of daemon 2 as jo. It prompts for the passphrase of the key. '
    "$programs/quorate" --socket "$folder/2/socket" --user jo --key jo --organization "$organization"
    echo "stopping the daemons and the database"
else
    echo "There is no terminal, so the console was not opened. The daemons run until this command is interrupted."
    wait
fi
