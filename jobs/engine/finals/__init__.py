"""Finals: retained slices become the answers of the windows that end.

- answers: Answers as the user's SQL has them, and as the tables of a result file.
- decimal_answers: Sums and averages of decimals from folded words, exact to the last digit, in Spark's types.
- fold: The partials of the windows that end: one measure of a tree under one window, or by a grid for all of them.
- gather: A tree's slices in its bucket, and what a batch adds to the levels of the tree.
- row_numbers: Rows with their numbers, key by key in event time, and which windows of rows end.
- tally_answers: Answers from tallies: estimates from registers, and all that value counts tell.
- task: What one task does for its bucket: merge, answer, write the results, and keep what later batches need.
- tree_columns: The slices of a tree as columns: a root's own, or a level of its feeder's.
"""
