"""What every strategy takes and gives.

- bounds: What holds for every strategy: bundles of many classes, and no plan above the plain ones.
- card: What a strategy is, as data: read by the tests, the command line and the docs.
- draft: What a strategy hands back: which tree answers each window, and what feeds each tree.
- options: What a caller says about a search: how edges are counted and cut, how to follow and stop it.
- pricing: What sets of units cost: the cost model of a search, with a look-up for every set it has seen.
- problem: What a strategy solves: the distinct windows of a group of queries, and their classes of equal edges.
- units: What a search moves about, a unit: a class of equal edges, or a single window; and what each unit asks for.
"""
