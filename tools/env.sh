#!/usr/bin/env bash
# Makes or refreshes a virtual environment with this checkout in it: tools/env.sh VENV EXTRAS
# AIRFLOW and SPARK name the versions. Quick where nothing has changed since the last call.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1 extras=$2
: "${AIRFLOW:?}" "${SPARK:?}"
log=$venv/install.log

python=$(tools/find_python.sh)
echo "$("$python" --version) ($python)"
"$python" tools/find_java.py

if ! "$venv/bin/python" -c '' 2>/dev/null; then
    echo "Making the environment $venv"
    if [ -f "$venv/pyvenv.cfg" ]; then
        rm -rf "$venv"
    fi
    "$python" -m venv "$venv"
fi

quietly() {
    if ! "$@" >>"$log" 2>&1; then
        tail -n 25 "$log" >&2
        echo "Installing failed; the whole log is $log" >&2
        exit 1
    fi
}

constraints=()
if [ -f "tools/constraints-${AIRFLOW%.*}.txt" ]; then
    constraints=(--constraint "tools/constraints-${AIRFLOW%.*}.txt")
fi
# Airflow's Spark provider brings pyspark-client, which writes to the folder of pyspark: their versions must be equal.
pair=$("$python" tools/pair.py "$SPARK")
wanted="$AIRFLOW $SPARK $extras $(cat pyproject.toml setup.py | cksum)"
stamp=$venv/.installed-${extras//,/-}
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    echo "Installing Airflow $AIRFLOW, Spark $SPARK and the rest into $venv (a minute or two; log: $log)"
    : >"$log"
    quietly "$venv/bin/python" -m pip install --upgrade "pip>=24" "setuptools>=77" wheel
    quietly "$venv/bin/python" -m pip install -e ".[$extras]" --config-settings editable_mode=strict \
        ${constraints[@]+"${constraints[@]}"} \
        "apache-airflow==$AIRFLOW" "pyspark==$pair" "pyspark-client==$pair"
    rm -f "$venv/.files"
    echo "$wanted" >"$stamp"
fi

# A strict editable install links single files, so that mypy and editors can follow the mounted packages:
# a file that comes or goes needs another one.
mounts=$("$python" -c "from setup import MOUNTS; print(*MOUNTS.values())")
# shellcheck disable=SC2086
files=$(find $mounts -type f -not -name '*.pyc' | sort; cksum pyproject.toml setup.py)
if [ "$(cat "$venv/.files" 2>/dev/null)" != "$files" ]; then
    quietly "$venv/bin/python" -m pip install --no-deps --no-build-isolation -e . --config-settings editable_mode=strict
    echo "$files" >"$venv/.files"
fi

# The driver's own Python, for a version of Spark that PyPI has no pyspark-client of.
driver=$venv/driver
if [ "$pair" = "$SPARK" ]; then
    rm -rf "$driver"
else
    if [ "$(cat "$driver/.spark" 2>/dev/null)" != "$SPARK" ]; then
        echo "PyPI has no pyspark-client $SPARK. Installing Spark $pair in Airflow's environment; jobs use $driver with Spark $SPARK"
        rm -rf "$driver"
        "$python" -m venv "$driver"
        quietly "$driver/bin/python" -m pip install --upgrade "pip>=24"
        quietly "$driver/bin/python" -m pip install ".[spark]" "pyspark==$SPARK"
        echo "$SPARK" >"$driver/.spark"
    fi
    quietly "$driver/bin/python" -m pip install --no-deps --force-reinstall .
fi
echo "The environment $venv is ready"
