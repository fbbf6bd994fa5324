"""The papers' experiments, rerun: every module has a `measure` that gives figures for docs/evidence.md.

- estimates: Incremental evaluation, experiments 6 and 7: estimated against actual throughput of plans.
- factor_windows: Factor windows, tables I and III, figure 12: predicted boosts, and planning time.
- kernels: SlickDeque, experiments 1 to 4: throughput, all ranges at once, latency and memory of every technique.
- plans: Incremental evaluation, experiments 1 to 5 and figure 16: costs and trees of plans by technique and strategy.
- rewriting: Factor windows, tables I and III and figure 19: boosts of rewritten statements on Spark.
- sharing: On-the-fly sharing, figures 13 to 16: shared against unshared, pairs against panes.
- side_by_side: Experiments that count and do not time, a process for every core.
- weaving: Weave Share, figures 4 to 11 and 14: Weave Share beside simpler plans, and as queries come and go.

The papers' own figures are data: claims/*.yaml, one file per paper.
"""
