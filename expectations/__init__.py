"""The audit: what was emitted against plain Spark. Great Expectations is imported nowhere else.

- audit: The job that audits what waits to be published; `spark-submit expectations/audit.py --help` says how.
- check: Audit a stream's emitted windows, then publish: what `heddle check` and a scheduled task call.
- data_docs: Data Docs that need no network: a page per audit, and the record that the list of audits reads.
- micro_batch: The job of a scheduled micro-batch: it evaluates, then audits in the same Spark session.
- publish: What an audit decides: the batches that waited for it are published, or quarantined, by one atomic step.
- sample: What an audit looks at: statements, windows, late events.
- sides: The two sides of an audit: the engine's rows and plain Spark's.
- suites: The suites: what is expected of every table of an audit.
- user_suites: The users' own expectations (`expect:` in the catalog) as suites, of events and of answers.
"""

import os

os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")  # before great_expectations is imported, which reads it
