#!/usr/bin/env bash
# The second pass, in VENV: tests marked long; random plans in local-cluster mode; then on the other versions of Spark named
# in OTHER_SPARKS the tests of capture (OTHER_TESTS names fewer) and random plans (OTHER_PLANS says how many).
set -euo pipefail
cd "$(dirname "$0")/.."
: "${VENV:?}"
. tools/sparks.sh

. tools/postgres.sh
echo "Tests marked long"
"$VENV/bin/python" -m pytest -m long -n 2 --dist loadgroup "$@" || [ $? = 5 ]
if [ $# = 0 ]; then
    random_plans "" "$CLUSTER" 2000 "${OTHER_PLANS:-100}"
fi
for version in ${OTHER_SPARKS:-}; do
    folder=$(spark_folder "$version")
    echo "Capture on Spark $version"
    # shellcheck disable=SC2086
    PYTHONPATH=$folder "$VENV/bin/python" -m pytest ${OTHER_TESTS:-tests/tracker tests/oracle} \
        -m "not long and not airflow" -n 2 --dist loadfile "$@"
    if [ $# = 0 ]; then
        random_plans "$folder" "local[2]" 3000 "${OTHER_PLANS:-100}"
        random_plans "$folder" "$CLUSTER" 4000 "${OTHER_PLANS:-100}"
    fi
done
