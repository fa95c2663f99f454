"""A script that starts another one under capture, in a process of its own."""

import subprocess
import sys
from pathlib import Path

script = Path(__file__).with_name("arguments.py")
run = [sys.executable, "-m", "provspark.cli.main", "run", "--store", sys.argv[1], "--step", "inner", str(script), "in"]
subprocess.run(run, check=True)
