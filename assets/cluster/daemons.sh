# shellcheck shell=bash
# Three daemons on one database, for scripts that start it. They run in a folder of common.sh.
# shellcheck source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

start_daemons() { # start_daemons URL: as root users mira and jo, with a proposal of mira that waits for jo
    local daemon user key users=()
    passphrase='correct horse battery staple'
    export XDG_CONFIG_HOME=$folder/config XDG_STATE_HOME=$folder/state XDG_CACHE_HOME=$folder/cache
    for user in mira jo; do
        run 60 "$programs/quorate" key add "$user" --json <<<"$passphrase" >"$user.json" 2>key.log || fail "a key cannot be created" "$folder/key.log"
        key=$(jq -r .publicKey "$user.json")
        users+=(--root-user "$user=$key")
    done
    for daemon in 1 2 3; do
        mkdir -m 700 "$daemon"
        cat >"$daemon/quorated.toml" <<TOML
[http]
listen = "127.0.0.1:0"

[socket]
path = "$folder/$daemon/socket"

[store]
path = "$folder/$daemon/data"
engine = "postgres"
url = "$1"

[key]
file = "$folder/root.key"
TOML
        if [ "$daemon" = 1 ]; then
            run 60 "$programs/quorated" init --config 1/quorated.toml --name treasury --threshold 2 "${users[@]}" >1/init.json 2>1/log ||
                fail "the organization cannot be created" "$folder/1/log"
            organization=$(jq -r .organizationId 1/init.json)
        else
            run 60 "$programs/quorated" join --config "$daemon/quorated.toml" >"$daemon/log" 2>&1 ||
                fail "daemon $daemon cannot join" "$folder/$daemon/log"
        fi
        write_command "$daemon"
        serve "$daemon"
    done
    propose
}
write_command() { # write_command DAEMON: writes quorate1 and so on, which runs quorate at this daemon as jo
    cat >"quorate$1" <<SH
#!/usr/bin/env bash
# Runs quorate at daemon $1 as jo. All that it writes is in this folder.
unset "\${!QUORATE@}"
export XDG_CONFIG_HOME=$XDG_CONFIG_HOME XDG_STATE_HOME=$XDG_STATE_HOME XDG_CACHE_HOME=$XDG_CACHE_HOME
export QUORATE_SOCKET=$folder/$1/socket QUORATE_ORGANIZATION=$organization QUORATE_USER=jo QUORATE_KEY=jo
exec $(printf %q "$programs/quorate") "\$@"
SH
    chmod +x "quorate$1"
}
serve() { # serve DAEMON
    local process limit=$((SECONDS + 120))
    # In a session of its own, a daemon gets no signal from the keys of the terminal.
    setsid "$programs/quorated" serve --config "$1/quorated.toml" >>"$1/log" 2>&1 &
    process=$!
    disown
    until run 10 "./quorate$1" status >/dev/null 2>&1; do
        kill -0 $process 2>/dev/null || fail "daemon $1 ended" "$folder/$1/log"
        [ $SECONDS -lt $limit ] || fail "daemon $1 is not ready after two minutes" "$folder/$1/log"
        sleep 0.1
    done
}
propose() {
    local code limit=$((SECONDS + 120))
    while true; do
        code=0
        run 60 ./quorate1 --user mira --key mira --passphrase-fd 0 propose create-user-tag --set userTagName=payouts \
            <<<"$passphrase" >propose.log 2>&1 || code=$?
        # 5: it waits for the vote of jo. 8: the daemon is not ready now, as after a change of the primary.
        case $code in
        0 | 5) return ;;
        8) [ $SECONDS -lt $limit ] || fail "daemon 1 is not ready after two minutes" "$folder/propose.log" ;;
        *) fail "the first proposal failed" "$folder/propose.log" ;;
        esac
        sleep 0.5
    done
}

show_daemons() { # prints how to use them
    local daemon api
    show "$(run 10 ./quorate3 status | grep -E '^(daemons|engine)')" \
        "organization $organization, root users mira and jo, passphrase of their keys: $passphrase" \
        "mira has proposed a user tag at daemon 1, which waits for the vote of jo"
    for daemon in 1 2 3; do
        api=$(run 10 "./quorate$daemon" status --json | jq -r .baseUrl)
        show "daemon $daemon: API $api, console: $folder/quorate$daemon"
    done
}

use_daemons() { # opens the console of the second one; without a terminal, waits until the script is interrupted
    if ! [ -t 0 ] || ! [ -t 1 ]; then
        show "There is no terminal, so the console was not opened. The daemons run until this command is interrupted."
        while true; do sleep 0.5; done
    elif read -r -p 'Enter opens the console of daemon 2 as jo. It prompts for the passphrase when jo votes. '; then
        # Signals to the script do not wait for the end of the console.
        (trap - INT QUIT && exec ./quorate2) <&0 &
        wait $! || show "the console ended with exit code $?"
    else
        show ''
    fi
}
