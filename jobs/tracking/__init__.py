"""What MLflow remembers. It is imported nowhere else.

store.py         open_store(settings()): one experiment per stream, runs written in few transactions
registry.py      the plans of a stream: register, champion, promote, roll_back, history
promotion.py     decide(): whether a plan is cheaper than the champion, re-costed on the same catalog
replans.py       log_replan(): a parent run, a child per tree, plan.json, the picture, a row per query
evaluations.py   log_evaluation(): what was measured against what was estimated
comparisons.py   log_comparison(): the same events under several strategies and techniques
past.py          past_runs(), run_rows(): what pages and calibration read
calibrations.py  prices(): seconds per operation, fitted from past runs
deviation.py     throughputs normalised as in the papers, and how far they are apart
charts.py        bars per technique and per strategy
detail.py        a row per query and a row per tree, as Parquet

- calibrations: Seconds per operation, fitted from past runs, so that estimates come in seconds.
- charts: Bar charts of runs: costs of the plans that a replan chose from, and estimated beside measured throughput.
- comparisons: Comparisons: the same events under several strategies and techniques.
- detail: A plan as tables: a row per query and a row per tree.
- deviation: Estimated against measured throughput, normalised as in the papers.
- evaluations: Evaluation runs: what was measured against what was estimated.
- past: What runs have left behind, read back for pages and for calibration.
- promotion: Whether a plan shall be the champion: only when it is cheaper than the present one on the same catalog.
- registry: The plans of a stream as versions of a registered model; the one in force has the alias `champion`.
- replans: Replan runs: what was planned, what it costs beside the other strategies, and whether it was promoted.
- store: The tracking store: one experiment per stream, and runs that are written in few transactions.
- trees: A child run per tree: the costliest ones, since a page that lists thousands is read by nobody.
"""
