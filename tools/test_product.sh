#!/usr/bin/env bash
# Random plans under the full product of settings, PLANS of them on each version of Spark and each master.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${VENV:?}"
. tools/sparks.sh

export PROVSPARK_SETTINGS=product
plans=${PLANS:-240}
seed=10000
for version in "" ${OTHER_SPARKS:-}; do
    folder=${version:+$(spark_folder "$version")}
    for master in "local[2]" "$CLUSTER"; do
        random_plans "$folder" "$master" "$seed" "$plans"
        seed=$((seed + plans))
    done
done
