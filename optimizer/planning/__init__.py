"""From windows or a stream's catalog to a plan.

- defaults: The strategy, technique and rate of every command and of `optimize` where the user names none.
- draft_group: One group of queries: searched by a strategy, and assembled into the trees of a plan.
- names: Names that a user typed: strategies and techniques, checked against the tables and the algebra.
- recent: What a planner needs to know of recent events, whoever reads them.
- reweave: A plan for a catalog that has changed by a few queries: they join and leave, the rest stays where it is.
- roll_up: Groupings: a coarser one is fed by the partials of a finer one, or of the union of two.
- running_plan: A plan that queries join and leave one by one, by Incremental WeaveShare.
- shards: Shards or separate evaluation, tree by tree: |T| + k * beta against alpha * |T|.
- stream: From a catalog's stream to a plan: its queries grouped by clock and group-by columns.
- windows: From windows to a plan: `optimize`, and what planning a stream shares with it.
"""
