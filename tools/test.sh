#!/usr/bin/env bash
# Runs pytest in VENV with a PostgreSQL to test on, where one can be set up.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${VENV:?}"

if [ -x tests/setup_postgres.sh ]; then
    if url=$(tests/setup_postgres.sh); then
        export PROVSPARK_TEST_POSTGRES=$url
    elif [ -n "${CI:-}" ]; then
        echo "PostgreSQL could not be set up, and in CI its tests may not be skipped" >&2
        exit 1
    fi
fi
exec "$VENV/bin/python" -m pytest "$@"
