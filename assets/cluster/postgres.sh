# shellcheck shell=bash
# Programs of PostgreSQL, for scripts that start them in `folder`.
folder=${folder:-}

# Sets `server`, the folder of the programs, of the newest Debian package or in the search path, and `as_postgres`, words before a
# command that run it as a user whom PostgreSQL accepts: it rejects root.
find_postgres() {
    server=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1 || true)
    server=${server:-$(dirname "$(command -v initdb || echo /usr/bin/initdb)")}
    as_postgres=(env LC_ALL=C HOME="$folder")
    [ "$(id -u)" != 0 ] || as_postgres=(setpriv --reuid=postgres --regid=postgres --clear-groups "${as_postgres[@]}")
}
own_folder() { # own_folder NAME: creates a folder of PostgreSQL
    mkdir -m 700 "$1"
    [ "$(id -u)" != 0 ] || chown postgres:postgres "$1"
}
