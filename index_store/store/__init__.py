"""The store: a folder of steps on any file system."""
