#!/usr/bin/env bash
# Starts three daemons on one PostgreSQL database in a temporary folder, and opens the console on the second one. Without a
# terminal, it prints how to continue. Everything ends with this script, and nothing is left on disk.
#
#   start.sh [FOLDER OF THE PROGRAMS]
set -euo pipefail
programs=$(realpath "${1:-target/release}")
folder=$(mktemp -d)
processes=()

finish() {
    trap - EXIT INT TERM
    # The daemons end first, so that they can still write.
    for process in "${processes[@]}"; do
        kill -INT "$process" 2>/dev/null || true
        tail --pid="$process" -f /dev/null 2>/dev/null || true
    done
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# PostgreSQL of the newest Debian package, or in the search path. It rejects root.
server=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true)
database() { # database PROGRAM ARGUMENTS...
    local program=$1
    shift
    [ -n "$server" ] && program=$server/$program
    if [ "$(id -u)" = 0 ]; then
        exec setpriv --reuid=postgres --regid=postgres --clear-groups env LC_ALL=C "$program" "$@"
    fi
    LC_ALL=C exec "$program" "$@"
}

echo "starting PostgreSQL and three daemons, which takes some seconds, in $folder"
chmod 711 "$folder"
mkdir "$folder/postgres"
[ "$(id -u)" = 0 ] && chown postgres:postgres "$folder/postgres"
cd "$folder"
(database initdb --pgdata "$folder/postgres/data" --username quorate --auth trust --encoding UTF8 --locale C >initdb.log 2>&1) ||
    { cat initdb.log >&2; exit 1; }
(database postgres -D "$folder/postgres/data" -k "$folder/postgres" -h '' >postgres.log 2>&1) &
server_process=$!
until grep -qs 'ready to accept' postgres.log; do
    kill -0 "$server_process" 2>/dev/null || { cat postgres.log >&2; exit 1; }
    sleep 0.1
done
(database createdb -h "$folder/postgres" -U quorate quorate)

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
url = "postgres://quorate@/quorate?host=$folder/postgres"

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
processes+=("$server_process")

api() { # api DAEMON: the address of its API
    "$programs/quorate" --socket "$folder/$1/socket" status --json | jq -r .baseUrl
}
# One activity waits for the vote of jo.
echo "$passphrase" | "$programs/quorate" --socket "$folder/1/socket" --user mira --key mira --organization "$organization" \
    --passphrase-fd 0 propose create-user-tag --set userTagName=payouts >/dev/null || [ $? = 5 ]
"$programs/quorate" --socket "$folder/3/socket" status | grep '^daemons'
printf '%s\n' "organization $organization, root users mira and jo, passphrase of their keys: $passphrase" \
    "mira has proposed a user tag at daemon 1, which waits for the vote of jo"
for daemon in 1 2 3; do
    echo "daemon $daemon: API $(api "$daemon"), console: XDG_CONFIG_HOME=$XDG_CONFIG_HOME $programs/quorate --socket $folder/$daemon/socket --user jo --key jo --organization $organization"
done
if [ -t 0 ] && [ -t 1 ]; then
    read -r -p 'Enter opens the console of daemon 2 as jo. It prompts for the passphrase of the key. '
    "$programs/quorate" --socket "$folder/2/socket" --user jo --key jo --organization "$organization"
    echo "stopping the daemons and PostgreSQL"
else
    echo "There is no terminal, so the console was not opened. The daemons run until this command is interrupted."
    wait
fi
