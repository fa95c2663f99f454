"""Folders that a store can lie in: local disks, object stores, HDFS."""
