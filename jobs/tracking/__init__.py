"""What MLflow remembers. It is imported nowhere else.

- artifacts: What a run shows: bar charts, queries and trees as Parquet, child runs for the costliest trees.
- client: MLflow's client, whose trouble is told in one line.
- comparisons: Comparisons: the same events under several strategies and techniques.
- evaluations: Evaluation runs: what was measured against what was estimated.
- past: What runs have left behind, read back for pages, and the prices they tell.
- plan_model: A plan as a model that MLflow loads: it predicts what the plan costs at a rate.
- registry: The plans of a stream as versions of a registered model, the champion, and when a plan takes its place.
- replans: Replan runs: what was planned, what it costs beside the other strategies, and whether it was promoted.
- store: The tracking store: one experiment per stream, its runs, and the datasets that they were made from.
"""
