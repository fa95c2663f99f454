"""Checks for a Java that Spark runs on, before anything is installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from mounted import mount


def main() -> int:
    """Print the Java found, or what to install."""
    mount()
    from provspark.errors import JavaNotFoundError
    from provspark.machine_checks import find_java

    try:
        java = find_java()
    except JavaNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Java {java.major} ({java.path})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
