#!/usr/bin/env bash
# The tests that meet Airflow, on another version of it: tools/other_airflow.sh VERSION [options for pytest], in VENV.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${VENV:?}"
folder=$VENV/airflow-$1

AIRFLOW=$1 SPARK=${SPARK:-4.1.3} tools/env.sh "$folder" airflow,spark,postgres,dev
shift
"$folder/bin/python" -m pytest tests/operators tests/hooks tests/provider/web/test_provider_http_airflow.py \
    tests/provider/airflow/test_provider_info.py tests/provider/airflow/test_provider_plugin.py -m "not long" -n 2 --dist loadfile \
    -W ignore::DeprecationWarning -W ignore::FutureWarning "$@"  # of Airflow's own imports
