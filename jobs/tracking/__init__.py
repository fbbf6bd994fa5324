"""What MLflow remembers. It is imported nowhere else.

- charts: Bar charts of runs: costs of the plans that a replan chose from, and estimated beside measured throughput.
- comparisons: Comparisons: the same events under several strategies and techniques.
- datasets: What a run was made from, as MLflow's Dataset column has it: the catalog, and a slice of events.
- detail: A plan in detail: a row per query and per tree as Parquet, and child runs for the costliest trees.
- evaluations: Evaluation runs: what was measured against what was estimated.
- past: What runs have left behind, read back for pages; the prices they tell, and how far estimates were off.
- plan_model: A plan as a model that MLflow loads: it predicts what the plan costs at a rate.
- registry: The plans of a stream as versions of a registered model, the champion, and when a plan takes its place.
- replans: Replan runs: what was planned, what it costs beside the other strategies, and whether it was promoted.
- store: The tracking store: one experiment per stream, and runs that are written in few transactions.
"""
