#!/usr/bin/env bash
# Runs the tests but those marked long in VENV, with a PostgreSQL to test on where one can be had.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${VENV:?}"

if [ -z "${PROVSPARK_TEST_POSTGRES:-}" ] && ! tests/setup_postgres.sh && [ -n "${CI:-}" ]; then
    exit 1
fi
exec "$VENV/bin/python" -m pytest -m "not long" -n 2 --dist loadfile "$@"
