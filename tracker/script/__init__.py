"""Reads the user's script as text: which values does it show, and which come from elsewhere."""

from provspark.tracker.script.place import CallPlace, script_files, script_place
from provspark.tracker.script.program import Program, program

__all__ = ["CallPlace", "Program", "program", "script_files", "script_place"]
