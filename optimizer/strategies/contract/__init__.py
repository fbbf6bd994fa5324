"""What every strategy takes and gives.

- strategy: What a strategy is: its card, the draft that it hands back, and the bounds that hold for every one.
- pricing: What sets of units cost: the cost model of a search, with a look-up for every set it has seen.
- problem: What a strategy solves: windows and their classes of equal edges, the caller's options, and the watch.
- units: What a search moves about, a unit: a class of equal edges, or a single window; and what each unit asks for.
"""
