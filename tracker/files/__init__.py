"""Capture of files that a script reads and writes on the driver with Python or pyarrow, not with Spark."""

from provspark.tracker.files.driver import DriverFiles
from provspark.tracker.files.file import FileRead, FileState, FileWrite

__all__ = ["DriverFiles", "FileRead", "FileState", "FileWrite"]
