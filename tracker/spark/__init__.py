"""What differs between versions of Spark, and the way to the JVM."""
