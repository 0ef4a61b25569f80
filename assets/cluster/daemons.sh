# Three daemons on one database, for scripts that start it. They set `programs`, `folder` and `processes`, whose last ones are the
# daemons then.

start_daemons() { # start_daemons URL: as root users mira and jo, with a proposal of mira that waits for jo
    export XDG_CONFIG_HOME=$folder/config XDG_STATE_HOME=$folder/state XDG_CACHE_HOME=$folder/cache
    local daemon user key users=()
    passphrase='correct horse battery staple'
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
url = "$1"

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
    # Exit code 5: it waits for the vote of jo.
    echo "$passphrase" | "$programs/quorate" --socket "$folder/1/socket" --user mira --key mira --organization "$organization" \
        --passphrase-fd 0 propose create-user-tag --set userTagName=payouts >/dev/null || [ $? = 5 ]
}

show_daemons() { # prints how to use them
    local daemon api
    "$programs/quorate" --socket "$folder/3/socket" status | grep -E '^(daemons|engine)'
    printf '%s\n' "organization $organization, root users mira and jo, passphrase of their keys: $passphrase" \
        "mira has proposed a user tag at daemon 1, which waits for the vote of jo"
    for daemon in 1 2 3; do
        api=$("$programs/quorate" --socket "$folder/$daemon/socket" status --json | jq -r .baseUrl)
        echo "daemon $daemon: API $api, console: XDG_CONFIG_HOME=$XDG_CONFIG_HOME $programs/quorate --socket $folder/$daemon/socket --user jo --key jo --organization $organization"
    done
}

use_daemons() { # opens the console of the second one; without a terminal, waits until the script is interrupted
    if [ -t 0 ] && [ -t 1 ]; then
        read -r -p 'Enter opens the console of daemon 2 as jo. It prompts for the passphrase of the key. '
        "$programs/quorate" --socket "$folder/2/socket" --user jo --key jo --organization "$organization"
        echo "stopping the daemons and the database"
    else
        echo "There is no terminal, so the console was not opened. The daemons run until this command is interrupted."
        wait
    fi
}
