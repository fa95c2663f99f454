"""Reads the user's script as text: which values does it show, and which come from elsewhere."""

from provspark.tracker.script.place import Place, script_files, script_place
from provspark.tracker.script.program import Program, program

__all__ = ["Place", "Program", "program", "script_files", "script_place"]
