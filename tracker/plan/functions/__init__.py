"""Python functions over batches and groups, wrapped so that what they return says where it comes from."""
