#!/usr/bin/env bash
# Runs the tests but those marked long in VENV, with a PostgreSQL to test on where one can be had.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${VENV:?}"

. tools/postgres.sh
exec "$VENV/bin/python" -m pytest -m "not long" -n 2 --dist loadfile "$@"
