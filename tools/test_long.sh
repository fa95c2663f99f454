#!/usr/bin/env bash
# The second pass, in VENV: tests marked long, then capture on the other versions of Spark named in OTHER_SPARKS.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${VENV:?}"

if [ -z "${PROVSPARK_TEST_POSTGRES:-}" ] && ! tests/setup_postgres.sh && [ -n "${CI:-}" ]; then
    exit 1
fi
echo "Tests marked long"
"$VENV/bin/python" -m pytest -m long -n 2 --dist loadgroup "$@" || [ $? = 5 ]
for version in ${OTHER_SPARKS:-}; do
    folder=$VENV/spark-$version
    if [ ! -d "$folder/pyspark" ]; then
        echo "Installing Spark $version into $folder"
        "$VENV/bin/python" -m pip install --quiet --no-deps --target "$folder" "pyspark==$version"
    fi
    echo "Capture on Spark $version"
    PYTHONPATH=$folder "$VENV/bin/python" -m pytest tests/tracker tests/oracle -m "not long and not airflow" -n 2 --dist loadfile "$@"
done
