#!/usr/bin/env bash
# A server of PostgreSQL for measurements, with its default settings and its socket in FOLDER.
#   postgres.sh start FOLDER DATABASE...   prints the process id of the server once it is ready
#   postgres.sh insert FOLDER SECONDS CONNECTIONS DATABASE   prints single inserts of 900 bytes per second
set -euo pipefail

programs=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2> /dev/null | sort -V | tail -1)
PATH=$programs:$PATH
# PostgreSQL refuses to run as root.
as=()
[ "$(id -u)" != 0 ] || as=(setpriv --reuid=postgres --regid=postgres --init-groups --)
cd /

case $1 in
  start)
    folder=$2
    shift 2
    mkdir -p "$folder"
    [ "$(id -u)" != 0 ] || chown postgres:postgres "$folder"
    "${as[@]}" initdb --pgdata "$folder/data" --username quorate --auth trust --encoding UTF8 --locale C > "$folder.log" 2>&1
    "${as[@]}" postgres -D "$folder/data" -k "$folder" -h '' >> "$folder.log" 2>&1 &
    server=$!
    for _ in $(seq 300); do
      ! pg_isready --quiet --host "$folder" || break
      sleep 0.1
    done
    for database; do
      psql --quiet --host "$folder" --username quorate --dbname postgres --command "CREATE DATABASE $database"
    done
    echo "$server"
    ;;
  insert)
    folder=$2 seconds=$3 connections=$4 database=$5
    psql --quiet --host "$folder" --username quorate --dbname "$database" \
      --command "CREATE TABLE IF NOT EXISTS one (key bytea PRIMARY KEY, value bytea NOT NULL)"
    printf "INSERT INTO one VALUES (uuid_send(gen_random_uuid()), decode(repeat('5a', 900), 'hex'));\n" > "$folder.sql"
    pgbench --no-vacuum --protocol prepared --file "$folder.sql" --client "$connections" --jobs 2 --time "$seconds" \
      --host "$folder" --username quorate "$database" 2> /dev/null | sed -n 's/^tps = \([0-9.]*\).*/\1/p'
    ;;
  *)
    echo "usage: postgres.sh start|insert ..." >&2
    exit 2
    ;;
esac
