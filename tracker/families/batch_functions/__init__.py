"""Python functions over batches of rows."""
