"""What every strategy takes and gives.

- bounds: What holds for every strategy: bundles of many classes, and no plan above the plain ones.
- card: What a strategy is, as data: read by the tests, the command line and the docs.
- draft: What a strategy hands back: which tree answers each window, and what feeds each tree.
- fat_sums: The sum of FlatFAT's f(r * E) over sorted ranges, for any edge rate, by binary search and prefix sums.
- options: What a user may choose about a search: how edges are counted and cut, and factor windows.
- packing: Several integer columns as one sortable key, so that a million rows are made distinct by one sort.
- pricing: What sets of units cost: the cost model of a search, with a look-up for every set it has seen.
- problem: What a strategy solves: the distinct windows of a group of queries.
- units: What a search moves about, a unit: a class of equal edges, or a single window; and what each unit asks for.
- watch: How a caller follows a search, and stops it: a stopped search hands back the best it has.
"""
