"""What a set of windows costs under a technique and a cost model.

- omega: Omega, the estimated operations per edge of a tree: the load of its windows, a formula per technique, OMEGA.
- tree_cost: What a tree costs per tick: its feed, and its finals.
"""
