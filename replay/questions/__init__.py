"""The questions that are answered by running stored operations again: a file each."""
