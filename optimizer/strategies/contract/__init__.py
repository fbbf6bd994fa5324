"""What every strategy takes and gives.

- strategy: What a strategy is: its card, the draft that it hands back, and the bounds that hold for every one.
- problem: What a strategy solves: windows and their classes of equal edges, the caller's options, and the watch.
- units: What a search moves about, a unit: a class of equal edges, or a single window; and what sets of units cost.
"""
