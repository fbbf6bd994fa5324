"""A plan as data, and what reads it.

- answers: What it takes to answer the windows of a tree, counted before it is done.
- batches: The batches that a stream comes in: what each brings, and what it does to the retained levels of a tree.
- counters: The things that take time, by the names that the model, the engine and the prices have for them.
- counts: What the engine does for a plan, counted before it does it.
- definition: A plan as data: which trees evaluate a stream's queries, what feeds each tree, and what that costs.
- explain: A plan in words: what it costs, what it saves, and one line per tree.
- forest: Trees of a plan on their stream: what they have in a second, what their batches handle.
- levels: At which lengths a tree retains what its windows hold, and from which level each stretch of time is read.
- measures: The measures of a query's shape: the components that its partials must hold.
- picture: A plan as a picture: trees as boxes, inside each the trees that it feeds, and where they stand.
- prices: What a plan has to do, and what that takes: operations, and the price of each in seconds, fitted from runs.
- serialize: Plans as JSON: written, read back, and reduced to the content that a fingerprint covers.
"""
