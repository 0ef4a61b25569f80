#!/usr/bin/env bash
# Starts three daemons on one PostgreSQL database in a temporary folder, and opens the console on the second one. Without a
# terminal, it prints how to continue. Everything ends with this script, and nothing is left on disk.
#
#   start.sh [FOLDER OF THE PROGRAMS]
set -euo pipefail
# shellcheck source=daemons.sh
source "$(dirname "$0")/daemons.sh"
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

start_daemons "postgres://quorate@/quorate?host=$folder/postgres"
processes+=("$server_process")
show_daemons
use_daemons
