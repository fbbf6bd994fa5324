"""Finals: retained slices become the answers of the windows that end.

- answers: Answers as the user's SQL has them: finished from folded measures, nulls and types as Spark gives them.
- chunks: What a batch adds to the levels of a tree: slices, chunks that close, late partials of closed chunks.
- fold: The partials of the windows that end: one measure of a tree under one window, by the technique of the plan.
- gather: A tree's slices in its bucket: from the batch's partials and the retained ones.
- grid: The partials of windows by a grid: each measure is laid out once.
- result_tables: The answers of one bucket and grouping as tables, one per row group of the result file.
- retain: What a bucket keeps for later batches: it adds a file, and now and then makes few files of many.
- row_numbers: Rows with their numbers, key by key in event time, and which windows of rows end.
- tally_answers: Answers from tallies: estimates from registers, and all that value counts tell.
- task: Finals: what one task does for its bucket: merge, answer, write the results and the state.
- tree_columns: The slices of a tree as columns: a root's own, or a level of its feeder's.
"""
