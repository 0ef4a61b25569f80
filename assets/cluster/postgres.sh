# shellcheck shell=bash
# Programs of PostgreSQL, for scripts that start them in `folder`.
folder=${folder:-}

find_postgres() { # sets `server`, the folder of its programs, and `as_postgres`, which runs them: PostgreSQL of the newest Debian package, or in the search path. It rejects root
    server=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1 || true)
    server=${server:-$(dirname "$(command -v initdb || echo /usr/bin/initdb)")}
    as_postgres=(env LC_ALL=C HOME="$folder")
    [ "$(id -u)" != 0 ] || as_postgres=(setpriv --reuid=postgres --regid=postgres --clear-groups "${as_postgres[@]}")
}
own_folder() { # own_folder NAME: creates a folder of PostgreSQL
    mkdir -m 700 "$1"
    [ "$(id -u)" != 0 ] || chown postgres:postgres "$1"
}
