"""What runs on Spark: kernels, the engine, and one entry point per step.

- backfill: The job that computes a past interval anew; `spark-submit jobs/backfill.py --help` says how.
- compare: The job that evaluates the same events under several plans; `spark-submit jobs/compare.py --help` says how.
- data_source: `spark.read.format("heddle")`: published answers as a data source of Spark.
- evaluate: The job that evaluates what has arrived on a stream; `spark-submit jobs/evaluate.py --help` says how.
- results: Published results: what the manifests of a warehouse name, with the columns of the user's SQL.
- engine: Events to partials, partials to finals, and the commit between: everything a micro-batch does.
- generate: Synthetic events, as Parquet files that arrive in order: numpy draws them, pyarrow writes them.
- host: This machine: settings, storage, Java, signals.
- kernels: The incremental techniques, jitted: KERNELS by name, streams of partials through them.
- measure: What a stream is like: rate, keys, recent events.
- plans: Plans of a stream: candidates, the champion, replans, queries that join and leave.
- runs: A run over a stream's warehouse.
- sinks: Published answers as tables that other engines read, and alerts; each batch exactly once.
- spark: The engine on Spark.
- steps: What an Airflow task calls.
- tracking: What MLflow remembers. It is imported nowhere else.
"""

import os

from jobs.host.cache import use_kernel_cache
from jobs.host.memory import keep_freed_memory

use_kernel_cache()  # before numba is imported anywhere below
# Arrow's own pool gives memory back after every table: to read a batch then takes up to three times the CPU, in faults
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
keep_freed_memory()
