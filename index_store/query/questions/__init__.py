"""The questions about what is stored, one in each file."""
