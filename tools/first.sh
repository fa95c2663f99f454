#!/usr/bin/env bash
# The first pass, in VENV: linters and types, the page's checks, tests and build, and the tests that are not marked long.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${VENV:?}"

make lint VENV="$VENV"
if command -v npm >/dev/null; then
    make ui
    git diff --exit-code --stat -- provider/web/static ui/src  # the page that is committed is the source's
else
    echo "The page is not checked: install Node 20 for that" >&2
fi
make test VENV="$VENV"
