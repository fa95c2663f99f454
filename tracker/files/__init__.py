"""Files that a script reads and writes in the driver's own process, by Python and not by Spark."""

from provspark.tracker.files.driver import DriverFiles
from provspark.tracker.files.file import FileRead, FileState, FileWrite

__all__ = ["DriverFiles", "FileRead", "FileState", "FileWrite"]
