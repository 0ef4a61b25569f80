#!/usr/bin/env bash
# Three daemons on one PostgreSQL database, see `usage`.
set -Eeuo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=daemons.sh
source "$here/daemons.sh"

usage() {
    cat <<'TEXT'
Start three daemons on one PostgreSQL database in a temporary folder, and open the console on the second one

Usage: start.sh [FOLDER OF THE PROGRAMS]

The programs are quorated and quorate, by default in target/release of this repository. Without a terminal, the script prints how to
continue, and runs until it is interrupted. Everything ends with it. Nothing is left on disk, unless it fails: then it names the
log that shows why.
TEXT
}
case "$#${1:-}" in
1-h | 1--help) usage && exit ;;
0 | 1[!-]*) ;;
*) misuse "unknown arguments $*" ;;
esac
need_programs "${1:-}"
find_postgres
need cluster "$server/initdb" "$server/postgres" "$server/createdb" jq setsid timeout "${as_postgres[0]}"
open_folder quorate-cluster

show "starting PostgreSQL and three daemons, which takes some seconds, in $folder"
own_folder postgres
run 120 "${as_postgres[@]}" "$server/initdb" --pgdata "$folder/postgres/data" --username quorate --auth trust --encoding UTF8 --locale C \
    >initdb.log 2>&1 || fail "the database cannot be created" "$folder/initdb.log"
# In a session of its own, it gets no signal from the keys of the terminal. Its shared memory is in the folder.
setsid "${as_postgres[@]}" "$server/postgres" -D "$folder/postgres/data" -k "$folder/postgres" -h '' -c dynamic_shared_memory_type=mmap \
    >postgres.log 2>&1 &
database=$!
disown
until run 30 "${as_postgres[@]}" "$server/createdb" -h "$folder/postgres" -U quorate quorate >createdb.log 2>&1; do
    kill -0 $database 2>/dev/null || fail "PostgreSQL ended" "$folder/postgres.log"
    [ $SECONDS -lt 180 ] || fail "the database cannot be created" "$folder/createdb.log"
    sleep 0.1
done

start_daemons "postgres://quorate@/quorate?host=$folder/postgres"
show_daemons
use_daemons
