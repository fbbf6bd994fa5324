"""The language of expressions on columns, with the values, nulls and refusals of Spark's ANSI mode.

- arithmetic: Arithmetic in the type of the result: whole numbers that may not overflow, floats, bits.
- build: Builds the node of an expression, operator by operator.
- casts: Casts between plain types, as CAST does them in ANSI mode.
- comparisons: Comparisons in Spark's order, three-valued logic, and conditionals.
- decimals: Whole numbers with a point, in Spark's precisions and scales.
- functions: The functions that the file lane evaluates, and how each converts its arguments.
- mathematics: Mathematics of doubles as Java has it, and rounding on the decimal form of a number.
- nodes: An expression with the type of every part, ready to be evaluated.
- operators: Arithmetic and comparisons of two nodes, in the types that Spark gives both sides.
- text_casts: Texts as other values, and other values as texts.
- texts: Texts, by their code points and without any locale.
- times: Days and microseconds since 1970, read on a clock of a time zone.
- vectors: The values of an expression for some rows, which of them are null, and which Spark would refuse.
"""
