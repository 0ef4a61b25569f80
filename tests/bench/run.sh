#!/usr/bin/env bash
# Measures the daemon against its limits and its goals, and prints which of them are met. Exit code 1 if one
# is not.
#   tests/bench/run.sh             about fifteen minutes on two cores, mostly for the build
#   QUICK=1 tests/bench/run.sh     fewer and shorter runs, and fewer activities
#   BUILD=0 tests/bench/run.sh     measures the last build
#   ENGINE=redb tests/bench/run.sh measures another engine of the store
# Everything listens on the loopback interface only. Results are in target/bench/results.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=$(cargo metadata --no-deps --format-version 1 |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
release=$target/release
work=$target/bench
results=$work/results
here=tests/bench
engine=${ENGINE:-sled}

if [ "${QUICK:-0}" = 1 ]; then
  runs=3 seconds=1 connections='[1,64]' activities=30000 crowd=10000 frames=7 attempts=600
else
  runs=5 seconds=3 connections='[1,8,64]' activities=100000 crowd=100000 frames=15 attempts=10000
fi

started=()
finish() {
  for process in "${started[@]}"; do
    kill "$process" 2> /dev/null || true
  done
  for process in "${started[@]}"; do
    wait "$process" 2> /dev/null || true
  done
  # Stores of a hundred thousand activities are large and are removed; the figures stay.
  rm -rf "$work/data" ${database:+"$database"}
}
trap finish EXIT

heading() { printf '\n== %s\n' "$*"; }

await() { # FILE
  for _ in $(seq 300); do
    [ -s "$1" ] && return
    sleep 0.1
  done
  echo "$1 was not created in time" >&2
  exit 1
}

# Paths of sockets must be short, so the socket is next to the credentials under a relative path.
daemon() { # NAME [ARGUMENT...]
  local name=$1
  shift
  local options=("$@")
  [[ " $* " == *" --engine "* ]] || options+=(--engine "$engine")
  "$release/quorated" dev --data-dir "$work/data/$name" --listen 127.0.0.1:0 --socket "$work/data/$name.sock" \
    --credentials "$work/data/$name.json" "${options[@]}" 2> "$work/data/$name.log" &
  started+=($!)
  echo $! > "$work/data/$name.pid"
  await "$work/data/$name.json"
}

if [ "${BUILD:-1}" = 1 ]; then
  heading "building (minutes)"
  # Line tables do not change the code, and let a profiler name inlined functions.
  CARGO_PROFILE_RELEASE_DEBUG=line-tables-only \
    cargo build --release -p quorated -p quorate -p quorate-bench
fi
rm -rf "$results" "$work/data"
mkdir -p "$results" "$work/data"

heading "an idle daemon with demo data"
daemon idle
sleep 5
"$release/loadgen" resident --process "$(cat "$work/data/idle.pid")" --out "$results/idle.json"
kill "$(cat "$work/data/idle.pid")"

heading "decisions"
"$release/loadgen" decide --out "$results/decisions.json"

heading "transactions and wallets"
"$release/loadgen" chains --out "$results/chains.json"

lane() { # NAME MODE DAEMON
  printf '{"name": "%s", "mode": "%s", "targets": "%s/data/%s-targets.json", "process": "%s/data/%s.pid"}' \
    "$1" "$2" "$work" "$3" "$work" "$3"
}
both() { # FILE SECONDS REQUESTS LANES
  printf '{"runs": %s, "seconds": %s, "warmUp": 1, "requests": %s, "connections": [64], "scenarios": [%s]}' \
    $((2 * runs)) "$2" "$3" "$4" > "$work/data/$1"
  "$release/loadgen" compare --config "$work/data/$1" --out "$results/$1"
}

heading "comparison"
alone=(--users 1 --threshold 1 --no-demo)
daemon sign "${alone[@]}"
"$release/loadgen" provision --credentials "$work/data/sign.json" --organizations 20 --keys 2 --out "$work/data/sign-targets.json"
limit() { # NAME [ARGUMENT...]
  local name=$1
  shift
  "$release/limitserver" --targets "$work/data/sign-targets.json" --folder "$work/data/$name" \
    --ready "$work/data/$name-targets.json" "$@" 2> "$work/data/$name.log" &
  started+=($!)
  echo $! > "$work/data/$name.pid"
  await "$work/data/$name-targets.json"
}
limit limit --engine "$engine"
limit plain --plain

openbao=
if bash $here/openbao.sh install "$work/openbao" > "$work/openbao.log" 2>&1; then
  bash $here/openbao.sh start "$work/openbao" "$work/data/openbao"
  started+=("$(cat "$work/data/openbao/pid")")
  openbao=$(cat <<SCENARIO
    {"name": "openbao ed25519", "mode": "bao", "baseUrl": "$(cat "$work/data/openbao/address")",
     "token": "$work/data/openbao/token", "key": "ed", "process": "$work/data/openbao/pid"},
SCENARIO
  )
else
  echo "skipped: OpenBao could not be installed (see $work/openbao.log)"
fi

cat > "$work/data/compare.json" <<CONFIG
{"runs": $runs, "seconds": $seconds, "warmUp": 0.7, "requests": 120000, "connections": $connections,
 "scenarios": [
    {"name": "quorate sign", "mode": "sign", "targets": "$work/data/sign-targets.json", "process": "$work/data/sign.pid"},
    {"name": "limit sign", "mode": "sign", "targets": "$work/data/limit-targets.json", "process": "$work/data/limit.pid"},
    {"name": "plain sign", "mode": "sign", "targets": "$work/data/plain-targets.json", "process": "$work/data/plain.pid"},
$openbao
    {"name": "quorate whoami", "mode": "whoami", "targets": "$work/data/sign-targets.json", "process": "$work/data/sign.pid",
     "connections": [64]},
    {"name": "limit whoami", "mode": "whoami", "targets": "$work/data/limit-targets.json", "process": "$work/data/limit.pid",
     "connections": [64]}
 ]}
CONFIG
"$release/loadgen" compare --config "$work/data/compare.json" --out "$results/compare.json"

heading "engines"
daemon redb "${alone[@]}" --engine redb
limit redb-limit --engine redb
"$release/loadgen" provision --credentials "$work/data/redb.json" --organizations 20 --keys 2 --out "$work/data/redb-targets.json"
postgres=
if database=$(mktemp --directory) && chmod 711 "$database" && server=$(bash $here/postgres.sh start "$database/pg" daemon twin inserts shared); then
  started+=("$server")
  url() { printf 'postgres://quorate@/%s?host=%s' "$1" "$database/pg"; }
  printf '{"per_second": %s}' "$(bash $here/postgres.sh insert "$database/pg" "$((3 * seconds))" 64 inserts)" > "$results/inserts.json"
  daemon postgres "${alone[@]}" --engine postgres --database "$(url daemon)"
  limit postgres-limit --engine postgres --database "$(url twin)"
  "$release/loadgen" provision --credentials "$work/data/postgres.json" --organizations 20 --keys 2 --out "$work/data/postgres-targets.json"
  # The backends of the daemon stay the same, so their processor time can be read together.
  pgrep --parent "$server" > "$work/data/database.pid"
  postgres=", $(lane "postgres sign" sign postgres), $(lane "postgres limit sign" sign postgres-limit),
    $(lane "database of signatures" sign postgres | sed "s#postgres.pid#database.pid#")"
else
  echo "skipped: PostgreSQL is not installed"
fi
both engines.json "$seconds" 120000 "$(lane "redb sign" sign redb), $(lane "redb limit sign" sign redb-limit)$postgres"
for name in redb redb-limit ${postgres:+postgres postgres-limit}; do
  kill "$(cat "$work/data/$name.pid")"
done

if [ -n "$postgres" ]; then
  heading "several daemons"
  "$release/loadgen" link --to "$database/pg/.s.PGSQL.5432" --delay-ms 1 --ready "$work/data/link.port" &
  started+=($!)
  await "$work/data/link.port"
  shared="postgres://quorate@127.0.0.1:$(cat "$work/data/link.port")/shared"
  daemon shared "${alone[@]}" --engine postgres --database "$shared"
  for number in 2 3; do
    mkdir -m 700 "$work/data/shared-$number"
    cat > "$work/data/shared-$number.toml" <<TOML
[http]
listen = "127.0.0.1:0"
[socket]
path = "$work/data/shared-$number.sock"
[store]
path = "$work/data/shared-$number"
engine = "postgres"
url = "$shared"
[key]
file = "$work/data/shared/root.key"
TOML
    "$release/quorated" join --config "$work/data/shared-$number.toml" > /dev/null
    "$release/quorated" serve --config "$work/data/shared-$number.toml" 2> "$work/data/shared-$number.log" &
    started+=($!)
    echo $! > "$work/data/shared-$number.pid"
  done
  cat "$work"/data/shared{,-2,-3}.pid > "$work/data/all.pid"
  "$release/loadgen" provision --credentials "$work/data/shared.json" --organizations 60 --keys 1 --out "$work/data/shared-targets.json"
  "$release/loadgen" provision --credentials "$work/data/shared.json" --organizations 0 --keys 8 --out "$work/data/hot-targets.json"
  others=
  for number in 2 3; do
    until url=$("$release/quorate" --socket "$work/data/shared-$number.sock" status --json 2> /dev/null | jq --raw-output .baseUrl); do
      sleep 0.1
    done
    jq --arg url "$url" '.baseUrl = $url' "$work/data/shared-targets.json" > "$work/data/shared-$number-targets.json"
    others+=${others:+, }\"$work/data/shared-$number-targets.json\"
  done
  fleet() { # NAME TARGETS
    printf '{"name": "one daemon%s", "mode": "sign", "targets": "%s", "process": "%s", "connections": [4]},
      {"name": "three daemons%s", "mode": "sign", "targets": "%s", "others": [%s], "process": "%s", "connections": [12]}' \
      "$1" "$work/data/$2-targets.json" "$work/data/shared.pid" "$1" "$work/data/$2-targets.json" "$others" "$work/data/all.pid"
  }
  both shared.json "$seconds" 120000 "$(fleet "" shared), $(fleet ", one organization" hot)"
  for process in $(cat "$work/data/all.pid"); do
    kill "$process"
  done
  kill "$server"
fi

heading "queries during signatures"
"$release/loadgen" beside --targets "$work/data/sign-targets.json" --others "$work/data/limit-targets.json" \
  --folder "$work/data" --signers 4 --runs "$runs" --seconds "$seconds" --out "$results/beside.json"

heading "syncs"
"$release/loadgen" syncs --targets "$work/data/sign-targets.json" --count 20000 --out "$results/syncs.json"
kill "$(cat "$work/data/sign.pid")" "$(cat "$work/data/limit.pid")" "$(cat "$work/data/plain.pid")"
[ -z "$openbao" ] || kill "$(cat "$work/data/openbao/pid")"

heading "signing in"
"$release/loadgen" sink --ready "$work/data/sink.url" &
started+=($!)
await "$work/data/sink.url"
for name in login elsewhere; do
  daemon $name "${alone[@]}" --mail "$(cat "$work/data/sink.url")"
  "$release/loadgen" provision --credentials "$work/data/$name.json" --organizations 20 --keys 2 --out "$work/data/$name-targets.json"
done
"$release/loadgen" sign-in --targets "$work/data/login-targets.json" --others "$work/data/elsewhere-targets.json" \
  --process "$(cat "$work/data/login.pid")" --runs "$runs" --seconds "$seconds" --attempts "$attempts" --out "$results/sign-in.json"
kill "$(cat "$work/data/login.pid")" "$(cat "$work/data/elsewhere.pid")"

heading "$activities activities in one organization"
for name in few many; do
  daemon $name "${alone[@]}"
  "$release/loadgen" provision --credentials "$work/data/$name.json" --organizations 0 --keys 1 --out "$work/data/$name-targets.json"
done
"$release/loadgen" fill --targets "$work/data/many-targets.json" --count "$activities"
# Runs are short, so that few activities stay few; there are more runs instead.
cat > "$work/data/growth.json" <<CONFIG
{"runs": $((3 * runs)), "seconds": 10, "warmUp": 0.1, "requests": 3000, "connections": [64],
 "scenarios": [
    {"name": "few activities", "mode": "sign", "targets": "$work/data/few-targets.json", "process": "$work/data/few.pid"},
    {"name": "many activities", "mode": "sign", "targets": "$work/data/many-targets.json", "process": "$work/data/many.pid"}
 ]}
CONFIG
"$release/loadgen" compare --config "$work/data/growth.json" --out "$results/growth.json"
user=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["rootUsers"][0]["userName"])' "$work/data/few.json")
for name in few many; do
  XDG_CONFIG_HOME=$work/data/config XDG_STATE_HOME=$work/data/state "$release/loadgen" first-frame --runs $frames \
    --out "$results/frame-$name.json" -- "$release/quorate" --credentials "$work/data/$name.json" --user "$user"
done

kill "$(cat "$work/data/few.pid")" "$(cat "$work/data/many.pid")"

heading "$crowd wallet accounts and sub-organizations in one organization"
for name in empty crowded; do
  daemon $name "${alone[@]}"
  "$release/loadgen" provision --credentials "$work/data/$name.json" --organizations 0 --keys 1 --out "$work/data/$name-targets.json"
done
"$release/loadgen" crowd --targets "$work/data/crowded-targets.json" --private-keys 1000 --users 99 --policies 100 --accounts "$crowd"
"$release/loadgen" fill --targets "$work/data/crowded-targets.json" --count "$crowd" --mode child
# The warm-up is long, so that the store's cache has the records that signatures need, and not the newest
# ones.
both crowd.json 10 10000 "$(lane "empty organization" sign empty), $(lane "crowded organization" sign crowded)"
# A full page has a hundred elements.
"$release/loadgen" crowd --targets "$work/data/empty-targets.json" --accounts 100
"$release/loadgen" fill --targets "$work/data/empty-targets.json" --count 100 --mode child
both pages.json 1 3000 "$(lane "few children" children empty), $(lane "many children" children crowded),
  $(lane "few accounts" accounts empty), $(lane "many accounts" accounts crowded)"

heading "goals"
"$release/loadgen" report --folder "$results"
