"""The questions about what is stored: a file each."""
