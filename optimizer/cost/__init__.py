"""What a set of windows costs under a technique and a cost model.

- load: What a set of windows asks of a technique: all that any Omega needs to know.
- omega: Omega, the estimated operations per edge of a tree: one formula per technique, and the table OMEGA.
- tree_cost: What a tree costs per tick: its feed, and its finals.
"""
