"""The language of expressions on columns, with the values, nulls and refusals of Spark's ANSI mode.

- arithmetic: Arithmetic in the type of the result: whole numbers that may not overflow, floats, bits.
- build: Builds the node of an expression, operator by operator.
- casts: Casts between plain types, texts among them, as CAST does them in ANSI mode.
- comparisons: Comparisons in Spark's order, three-valued logic, and conditionals.
- decimals: Whole numbers with a point, in Spark's precisions and scales.
- functions: The functions that the file lane evaluates, and how each converts its arguments.
- mathematics: Mathematics of doubles as Java has it, and rounding on the decimal form of a number.
- nodes: An expression with the type of every part, ready to be evaluated, and the operators on two of them.
- texts: Texts, by their code points and without any locale.
- times: Days and microseconds since 1970, and the clocks of time zones by Java's rules.
- vectors: The values of an expression for some rows, which of them are null, and which Spark would refuse.
"""
