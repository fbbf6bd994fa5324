"""From windows or a stream's catalog to a plan.

- assemble: From a strategy's draft to the trees of a plan: windows, techniques, measures and costs filled in.
- baselines: What the two plans without an optimizer cost, without building them.
- defaults: The defaults of every command and of `optimize`.
- draft_group: One group of queries: searched by a strategy, and assembled into trees.
- group: Queries that may share trees: one grouping, one clock.
- incremental: A plan that queries join and leave while it runs, by Incremental WeaveShare.
- names: Names that a user typed: strategies and techniques, checked against the tables and the algebra.
- recent: What planning asks of recent events.
- reweave: A plan for a catalog that has changed by a few queries: they join and leave, the rest stays where it is.
- roll_up: Groupings: a coarser one is fed by the partials of a finer one, where these are fewer than the events.
- shards: Shards or separate evaluation, tree by tree: |T| + k * beta against alpha * |T|.
- stream: Planning a catalog's stream: its queries grouped by clock and group-by columns.
- windows: Planning: from windows or a catalog's stream to a plan, by a strategy of one's choice.
"""
