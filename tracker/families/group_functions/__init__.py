"""Python functions over groups of rows."""
