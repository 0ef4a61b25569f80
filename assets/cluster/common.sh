# shellcheck shell=bash
# A temporary folder and the programs that work in it, for scripts that start daemons on PostgreSQL. The script sets `here`, its own
# folder. Everything ends with the script. The folder is removed, unless the script fails.

# shellcheck source=postgres.sh
source "$(dirname "${BASH_SOURCE[0]}")/postgres.sh"
failure=
# A signal can end the script while its output goes to a file.
exec 8>&1 9>&2
# Settings of the user are for other daemons and databases.
unset "${!QUORATE@}" "${!PG@}" "${!PATRONI@}" "${!ETCD@}"

fail() { # fail REASON [LOG]: ends the script
    failure="$1${2:+: see $2}"
    exit 1
}
misuse() { # misuse REASON: the arguments are wrong
    failure="$1, see --help"
    exit 2
}
trap finish EXIT
trap 'fail "a command failed in line $LINENO of ${BASH_SOURCE[0]}"' ERR
# Further signals are ignored while the script ends.
trap 'trap "" HUP INT TERM PIPE; exit 129' HUP
trap 'trap "" HUP INT TERM PIPE; exit 130' INT
trap 'trap "" HUP INT TERM PIPE; exit 143' TERM
trap 'trap "" HUP INT TERM PIPE; exit 141' PIPE

show() { # show LINE...: ends the script if the terminal is closed
    printf '%s\n' "$@" 2>/dev/null || exit 129
}
need_programs() { # need_programs FOLDER: of Quorate, default: where cargo builds them
    programs=$(realpath -m "${1:-$here/../../target/release}")
    local program
    for program in quorated quorate; do
        [ -x "$programs/$program" ] || fail "there is no program $program in $programs: build it, or name the folder of the programs"
    done
}
need() { # need SET PROGRAM...: SET is the argument of .ci/packages that installs them
    local set=$1 program missing=()
    shift
    for program in "$@"; do
        command -v "$program" >/dev/null || missing+=("${program##*/}")
    done
    [ ${#missing[@]} = 0 ] || fail "missing programs: ${missing[*]} (on Debian, '.ci/packages $set' installs them)"
}
open_folder() { # open_folder NAME
    folder=$(mktemp -d "${TMPDIR:-/tmp}/$1.XXXXXX")
    [[ ${#folder} -le 80 && $folder =~ ^/[A-Za-z0-9/._-]+$ ]] || fail "TMPDIR must be a short absolute path of letters and digits"
    # PostgreSQL may run as another user.
    chmod 711 "$folder"
    cd "$folder" || fail "$folder cannot be entered"
    find_postgres
}
run() { # run SECONDS PROGRAM ARGUMENTS...: waits for the program. A signal to the script does not wait for it
    setsid timeout "$@" <&0 &
    wait $!
}

own() { # own PROGRAM...: the processes of these programs that work in the folder, also those that others have started
    local process name words
    for process in /proc/[0-9]*; do
        { read -r name <"$process/comm" && [[ " $* " == *" $name "* ]] && mapfile -d '' words <"$process/cmdline"; } 2>/dev/null || continue
        [[ "${words[*]} $(readlink "$process/cwd")/" != *"$folder/"* ]] || echo "${process#/proc/}"
    done
}
stop() { # stop SIGNAL PROGRAM...: ends them, after 5 seconds by force
    local signal=$1 limit=$((SECONDS + 5)) ids
    shift
    mapfile -t ids < <(own "$@")
    while [ ${#ids[@]} != 0 ] && [ $SECONDS -le $((limit + 10)) ]; do
        # A test may have suspended some.
        [ -z "$signal" ] || kill -s "$signal" "${ids[@]}" 2>/dev/null
        kill -s CONT "${ids[@]}" 2>/dev/null
        signal=
        [ $SECONDS -le $limit ] || signal=KILL
        sleep 0.1
        mapfile -t ids < <(own "$@")
    done
}
stop_servers() {
    # Patroni would start its server again.
    stop KILL patroni
    stop QUIT postgres
    stop KILL etcd initdb createdb psql pg_basebackup pg_rewind
    # A server that was killed has left its memory segment, which the seventh line of this file names.
    local file segment
    for file in postgres*/data/postmaster.pid; do
        segment=$(sed -n '7s/.* //p' "$file" 2>/dev/null)
        [ -z "$segment" ] || ipcrm -m "$segment" 2>/dev/null
    done
}
finish() {
    trap '' HUP INT TERM PIPE
    trap - ERR
    set +e
    exec 2>/dev/null
    if [ -n "$folder" ]; then
        cd "$folder" || echo "$folder was removed" >&9
        # The console first, which restores the terminal.
        stop TERM quorate
        echo 'stopping the daemons and the database' >&8
        # The daemons end before the database, so that they can still write.
        stop TERM quorated
        stop_servers
        cd /
        if [ -z "$failure" ]; then
            rm -rf "$folder" || { sleep 1; rm -rf "$folder"; }
        else
            failure+=" ($folder was kept: remove it when you do not need it anymore)"
        fi
    fi
    [ -z "$failure" ] || echo "${0##*/}: $failure" >&9
}
