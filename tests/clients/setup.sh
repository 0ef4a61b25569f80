#!/bin/sh
# Installs the third-party clients of the scenarios, exactly as locked. Does nothing if they are installed.
#   setup.sh [npm] [newest] [pypi]
#
# npm has the packages that the scenarios were written for, newest (in npm/newest) the newest ones.
#
# The overrides in package.json omit packages that the clients use for types only and never load, and those
# in npm/package.json select one version of @turnkey/http for all of them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

npm_client() {
    cd "$here/$1"
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

# Scenarios run concurrently: one of them installs, the others wait.
if command -v flock >/dev/null && [ "${SETUP_LOCKED:-}" != yes ]; then
    SETUP_LOCKED=yes exec flock "$here/setup.sh" "$0" "$@"
fi

[ $# -gt 0 ] || set -- npm newest pypi
for client in "$@"; do
    case $client in
    npm) npm_client npm ;;
    newest) npm_client npm/newest ;;
    pypi) pypi_client ;;
    *)
        echo "setup.sh: no client named $client" >&2
        exit 2
        ;;
    esac
done
