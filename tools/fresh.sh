#!/usr/bin/env bash
# The first minutes of a user, in a fresh clone and fresh environments: make demo, and the command from the wheel.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d "${TMPDIR:-/tmp}/fresh-XXXXXX")
trap 'rm -rf "$folder"' EXIT
git clone --quiet . "$folder/clone"
cd "$folder/clone"
unset VENV
make demo
make dist
python=$(tools/find_python.sh)
"$python" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet dist/*.whl
cd "$folder"
venv/bin/provspark --version
venv/bin/provspark ls --store "$folder/clone/.demo/store"
