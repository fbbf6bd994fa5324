"""Our own kernels over whole columns of slices.

- bounds: Which windows end, and which slices each of them holds, for many groups in one call.
- flips: Equal windows one row apart by any operator, NaN or not: suffixes and a running prefix.
- fold: Two-Stacks on whole columns of slices: no inverse, one flip a block (van Herk; Gil and Werman).
- fold_bounds: Windows as ascending ranges of slices: the regular runs among them go by dense columns.
- grid: Slices on a grid: a row per group, a column per tick; a tick without a slice holds what changes nothing.
- grid_levels: The chunks of every slide over the rows of a grid: each level is folded once.
- ladder: All ranges 1, 2, ..., n at once: each is the one before it and one row more.
- many_windows: Many windows over one dense column: chunks are folded once per slide, finer ones feed coarser ones.
- moments: Count, mean and M2 of windows over columns of slices, merged as Chan et al. do, by Two-Stacks.
- one_row_apart: Equal windows over a dense column, one row apart, without an inverse.
- operations: How many combine operations the block form of two stacks takes; its bounds alone tell.
- operators: Operators on bare columns: one number a slice, and the identity where a slice is null.
- rows_apart: Equal windows over a dense column, several rows apart: pairs of chunks, each row read once.
- scratch: Memory for columns, asked for once per call, and used again when no one holds it any more.
- selective: Which slice a selective operator picks in every window: first, last.
- short_windows: Short windows over a dense column, one row apart: neighbours are folded by fours.
- simd: Four neighbouring rows of a column at once, as a vector register holds them.
- simd_operators: Operators that take two values or two times four lanes, each a few instructions.
- van_herk: The inner loop of long windows one row apart, as van Herk and Gil-Werman have it: suffixes of a block.
"""
