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
"""
