"""Prints the version nearest to one of Spark that PyPI has of both pyspark and pyspark-client."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from mounted import mount

if __name__ == "__main__":
    mount()
    from provspark.machine_checks import pair

    print(pair(sys.argv[1]))
