"""Our own kernels over whole columns of slices.

- bounds: Which windows end, and which slices each of them holds, for many groups in one call.
- fold: The one way from columns of slices to the partials of windows: nulls, limbs of sums, overflow.
- fold_bounds: Windows as ascending bounds of slices: folded by dense columns or two stacks, or one slice is picked.
- grid: Slices on a grid: a row per group, a column per tick; a tick without a slice holds what changes nothing.
- levels: The chunks of every slide over the rows of a grid, or over one dense column: finer levels feed coarser ones.
- moments: Count, mean and M2 of windows over columns of slices, merged as Chan et al. do, by Two-Stacks.
- one_row_apart: Equal windows over a dense column, one row apart: long ones by blocks, short ones by fours.
- operators: Operators on bare columns, for values and for vectors.
- rows_apart: Equal windows over a dense column, several rows apart: pairs of chunks, each row read once.
- scratch: Memory for columns, allocated once per call, and used again when no column is left in it.
- simd: Four neighbouring rows of a column at once, as a vector register holds them, and operators on them.
- van_herk: Windows one row apart as van Herk and Gil-Werman have them: by flips, or block by block.
"""
