"""The audit: what was emitted against plain Spark. Great Expectations is imported nowhere else."""
