"""A script without Spark: prints its arguments, and fails where told to."""

import sys

print("ARGUMENTS", sys.argv[1:])
if "fail" in sys.argv:
    raise LookupError("told to fail")
