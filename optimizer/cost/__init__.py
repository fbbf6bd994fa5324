"""What a plan costs: Omega of every technique, the cost models, calibration.

- load: What a set of windows asks of a technique: all that any Omega needs to know.
- models: The cost models: what a set of trees costs per tick.
- omega: Omega, the estimated operations per edge of a tree: one formula per technique, and the table OMEGA.
"""
