"""From windows or a stream's catalog to a plan.

- choices: Strategy, technique and rate of a plan: the names that a user typed, checked, or the defaults.
- draft_group: One group of queries: searched by a strategy, and assembled into the trees of a plan.
- recent: What recent events tell a planner, and shards or separate evaluation decided by them.
- reweave: A plan for a catalog that has changed by a few queries: they join and leave, the rest stays where it is.
- roll_up: Groupings: a coarser one is fed by the partials of a finer one, or of the union of two.
- running_plan: A plan that queries join and leave one by one, by Incremental WeaveShare.
- stream: From a catalog's stream to a plan: its queries grouped by clock and group-by columns.
- windows: From windows to a plan: `optimize`, and what planning a stream shares with it.
"""
