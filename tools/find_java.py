"""Checks for a Java that Spark runs on, before anything is installed.

It is the package's own check, mounted by hand.
"""

import importlib.util
import sys
from pathlib import Path

PROVIDER = Path(__file__).resolve().parents[1] / "provider"


def main() -> int:
    """Print the Java found, or what to install."""
    spec = importlib.util.spec_from_file_location(
        "provspark", PROVIDER / "__init__.py", submodule_search_locations=[str(PROVIDER)]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules["provspark"] = package
    spec.loader.exec_module(package)
    from provspark.checks import find_java
    from provspark.errors import JavaNotFoundError

    try:
        java = find_java()
    except JavaNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Java {java.major} ({java.path})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
