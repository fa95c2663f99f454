"""The migrations, one per file, in order."""
