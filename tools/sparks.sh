# Spark as the tests want it, for the scripts that run them in VENV.
CLUSTER="local-cluster[2,1,1024]"

# spark_folder VERSION: prints the folder of that version of PySpark, installed if it is not there
spark_folder() {
    local folder=$VENV/spark-$1
    if [ ! -d "$folder/pyspark" ]; then
        echo "Installing Spark $1 into $folder" >&2
        "$VENV/bin/python" -m pip install --quiet --no-deps --target "$folder" "pyspark==$1" >&2
    fi
    echo "$folder"
}

# random_plans FOLDER MASTER SEED COUNT: random plans on the PySpark in FOLDER (the environment's, if empty)
random_plans() {
    local workers=2
    if [ "$2" = "$CLUSTER" ]; then workers=0; fi
    echo "Random plans $3 to $(($3 + $4 - 1)) on $2, Spark ${1:-of the environment}"
    PYTHONPATH=$1${PYTHONPATH:+:$PYTHONPATH} PROVSPARK_MASTER=$2 PROVSPARK_SEED=$3 PROVSPARK_PLANS=$4 \
        "$VENV/bin/python" -m pytest tests/oracle/test_oracle_random_plans.py -m long -n "$workers"
}
