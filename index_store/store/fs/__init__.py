"""File systems that a store can be on: local disks, object stores, HDFS."""
