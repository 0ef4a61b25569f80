#!/usr/bin/env bash
# Three daemons on a database that survives the loss of a server, see `usage`.
set -Eeuo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=../cluster/daemons.sh
source "$here/../cluster/daemons.sh"

usage() {
    cat <<'TEXT'
Start three nodes of etcd, three servers of PostgreSQL with Patroni in strict synchronous mode, and three daemons that follow the
primary, in a temporary folder, and open the console on the second daemon

Usage: start.sh [OPTIONS] [FOLDER OF THE PROGRAMS]

  --database      starts no daemons, prints the URL of the database, and runs until its input ends
  --asynchronous  switches the synchronous mode off: acknowledged changes can then be lost
  -h, --help      prints this text

The programs are quorated and quorate, by default in target/release of this repository. Without a terminal, the script prints how to
continue, and runs until it is interrupted. Everything ends with it. Nothing is left on disk, unless it fails: then it names the
log that shows why.
TEXT
}
alone=false
synchronous=true
while [[ ${1:-} == -* ]]; do
    case $1 in
    -h | --help) usage && exit ;;
    --database) alone=true ;;
    --asynchronous) synchronous=false ;;
    *) misuse "unknown option $1" ;;
    esac
    shift
done
[ $# -le 1 ] || misuse "unknown arguments ${*:2}"
$alone || need_programs "${1:-}"
find_postgres
need ha "$server/initdb" "$server/postgres" "$server/psql" etcd patroni patronictl curl jq setsid timeout "${as_postgres[0]}"
open_folder quorate-ha

choose_ports() { # sets `ports`, twelve that nobody uses, and that the kernel gives to no connection
    local low high port
    read -r low high </proc/sys/net/ipv4/ip_local_port_range
    ports=()
    while [ ${#ports[@]} -lt 12 ] && read -r port; do
        (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || ports+=("$port")
    done < <({ seq 10000 $((low - 1)); seq $((high + 1)) 65535; } | shuf)
    [ ${#ports[@]} = 12 ] || fail "no ports are free outside of the range in /proc/sys/net/ipv4/ip_local_port_range"
}
choose_protocol() { # sets `protocol`, that of etcd for Patroni, and `etcd_options`
    local found
    found=$(patroni --version | cut -d ' ' -f 2)
    protocol=etcd3 etcd_options=()
    # With the protocol etcd3, earlier versions let a primary that was suspended take back its role. Debian 12 has such a version.
    if [ "$(printf '%s\n' 3.0.3 "$found" | sort --version-sort | head -n 1)" != 3.0.3 ]; then
        protocol=etcd etcd_options=(--enable-v2)
    fi
}
configure() { # configure NODE: of Patroni
    # A production system keeps ttl, loop_wait and retry_timeout at their defaults, see patroni.yml beside this script.
    cat >"patroni$1.yml" <<YAML
scope: quorate
name: postgres$1
restapi:
  listen: 127.0.0.1:${ports[$1 + 9]}
  connect_address: 127.0.0.1:${ports[$1 + 9]}
$protocol:
  hosts: 127.0.0.1:${ports[3]},127.0.0.1:${ports[4]},127.0.0.1:${ports[5]}
bootstrap:
  dcs:
    ttl: 10
    loop_wait: 1
    retry_timeout: 3
    maximum_lag_on_failover: 1048576
    synchronous_mode: $synchronous
    synchronous_mode_strict: $synchronous
    primary_start_timeout: 0
    postgresql:
      use_pg_rewind: true
      parameters:
        max_connections: 100
        wal_log_hints: on
        # A server that is killed leaves nothing outside of its folder.
        dynamic_shared_memory_type: mmap
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
  data_dir: $folder/postgres$1/data
  pgpass: $folder/postgres$1/pgpass
  listen: 127.0.0.1:${ports[$1 + 6]}
  connect_address: 127.0.0.1:${ports[$1 + 6]}
  authentication:
    superuser: {username: postgres, password: unused}
    replication: {username: replicator, password: unused}
  parameters:
    unix_socket_directories: $folder/postgres$1
YAML
    echo "127.0.0.1:${ports[$1 + 9]}" >>addresses
}
start_servers() {
    local node peers=''
    choose_ports
    choose_protocol
    for node in 0 1 2; do
        peers+=${peers:+,}etcd$node=http://127.0.0.1:${ports[node]}
    done
    etcd=()
    for node in 0 1 2; do
        own_folder "postgres$node"
        own_folder "etcd$node"
        setsid "${as_postgres[@]}" etcd --name "etcd$node" --data-dir "$folder/etcd$node" \
            --listen-peer-urls "http://127.0.0.1:${ports[node]}" --initial-advertise-peer-urls "http://127.0.0.1:${ports[node]}" \
            --listen-client-urls "http://127.0.0.1:${ports[node + 3]}" --advertise-client-urls "http://127.0.0.1:${ports[node + 3]}" \
            --initial-cluster "$peers" --initial-cluster-state new --logger zap "${etcd_options[@]}" >"etcd$node.log" 2>&1 &
        etcd+=($!)
        disown
        configure $node
    done
    "$here/servers.sh" "$folder" start >/dev/null
}
is_ready() { # whether there is a primary, and a synchronous standby if there should be one
    local expected='leader replica replica '
    ! $synchronous || expected='leader replica sync_standby '
    [ "$(curl --silent --noproxy '*' --max-time 3 "http://127.0.0.1:${ports[9]}/cluster" |
        jq -r '.members[] | select(.state == "running" or .state == "streaming") | .role' 2>/dev/null | sort | tr '\n' ' ')" = "$expected" ]
}
await_servers() { # returns 1 if another program uses one of the ports
    local node limit=$((SECONDS + 240))
    until is_ready; do
        ! grep -qi 'address already in use' etcd?.log patroni?.log || return 1
        for node in 0 1 2; do
            kill -0 "${etcd[node]}" 2>/dev/null || fail_unless_in_use "node $node of etcd ended" "etcd$node.log" || return 1
            kill -0 "$(cat "patroni$node.pid")" 2>/dev/null || fail_unless_in_use "Patroni of server $node ended" "patroni$node.log" || return 1
        done
        [ $SECONDS -lt $limit ] || fail "the servers are not ready after four minutes" "$folder/patroni0.log"
        sleep 0.2
    done
}
fail_unless_in_use() { # fail_unless_in_use REASON LOG
    grep -qi 'address already in use' etcd?.log patroni?.log || fail "$1" "$folder/$2"
    return 1
}
query() { # query DATABASE TEXT: on the primary
    run 60 "$server/psql" -X -q -A -t -v ON_ERROR_STOP=1 -d "postgres://postgres@$hosts/$1?target_session_attrs=read-write" -c "$2" >psql.log 2>&1 ||
        fail "the database cannot be created" "$folder/psql.log"
}

show "starting etcd, PostgreSQL with Patroni, and the daemons, which takes up to a minute, in $folder"
attempts=1
start_servers
until await_servers; do
    [ $attempts -lt 10 ] || fail "other programs use the ports that the script chose, 10 times" "$(grep -li 'address already in use' "$folder"/*.log | head -n 1)"
    attempts=$((attempts + 1))
    echo "another program uses a port: trying other ports" >&2
    stop_servers 2>/dev/null || true
    rm -rf etcd* patroni* postgres* addresses
    start_servers
done
hosts=127.0.0.1:${ports[6]},127.0.0.1:${ports[7]},127.0.0.1:${ports[8]}
query postgres 'CREATE ROLE quorate LOGIN'
query postgres "CREATE DATABASE quorate OWNER quorate ENCODING 'UTF8'"
url=postgres://quorate@$hosts/quorate
if $alone; then
    show "$url"
    while read -r; do :; done
    exit
fi

start_daemons "$url"
show_daemons
show "the servers: $here/servers.sh $folder list" "change the primary: $here/servers.sh $folder switchover" \
    "end the primary as a crash of its machine does: $here/servers.sh $folder kill" "start it again, as a standby: $here/servers.sh $folder start"
use_daemons
