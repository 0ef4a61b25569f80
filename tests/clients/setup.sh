#!/bin/sh
# Installs the foreign clients that the stories drive, exactly as locked. Does nothing where they are
# installed already.   setup.sh [npm] [pypi]
#
# The overrides in npm/package.json leave out what the clients name for their types alone and never load, and have
# all of them use one version of @turnkey/http.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

npm_client() {
    cd "$here/npm"
    installed=node_modules/.installed
    cmp -s package-lock.json "$installed" && return
    npm ci --ignore-scripts --no-fund --no-audit --loglevel=error >&2
    cp package-lock.json "$installed"
}

pypi_client() {
    cd "$here/pypi"
    installed=.venv/.installed
    cmp -s requirements.txt "$installed" && .venv/bin/python -c '' 2>/dev/null && return
    rm -rf .venv
    python3 -m venv .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
        --require-hashes --requirement requirements.txt >&2
    cp requirements.txt "$installed"
}

# Stories run side by side: one of them installs, the others wait.
if command -v flock >/dev/null && [ "${SETUP_LOCKED:-}" != yes ]; then
    SETUP_LOCKED=yes exec flock "$here/setup.sh" "$0" "$@"
fi

[ $# -gt 0 ] || set -- npm pypi
for client in "$@"; do
    case $client in
    npm) npm_client ;;
    pypi) pypi_client ;;
    *)
        echo "setup.sh: no client named $client" >&2
        exit 2
        ;;
    esac
done
