"""Static analysis of the user's script: which values are constants of its text, and which come from elsewhere."""

from provspark.tracker.script.place import CallPlace, script_files, script_place
from provspark.tracker.script.program import Program, program

__all__ = ["CallPlace", "Program", "program", "script_files", "script_place"]
