"""Finals: retained slices become the answers of the windows that end.

- answers: Answers as the user's SQL has them, decimals to the last digit, and as the tables of a result file.
- fold: The partials of the windows that end: one measure of a tree under one window, or by a grid for all of them.
- gather: A tree's slices in its bucket, and what a batch adds to the levels of the tree.
- tally_answers: Answers from tallies: estimates from registers, and all that value counts tell.
- task: What one task does for its bucket: merge, answer, write results and state; or the slices of a new plan.
- tree_columns: The slices of a tree as columns, and where windows count rows, rows with their numbers.
"""
