"""Elementary functions to the bit as Java's StrictMath has them, which Spark calls: the algorithms of fdlibm.

fdlibm (the freely distributable math library, Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved;
permission to use, copy, modify, and distribute it is freely granted, provided that this notice is preserved) says in
which order a function adds and multiplies what; any other order gives other last digits. These are its algorithms,
written anew over arrays. All functions take contiguous float64 arrays and return new ones.

- angles: Arcsine, arccosine and arctangent.
- exponentials: exp and expm1, and the hyperbolic functions made of them.
- logarithms: log, log10 and log1p.
- powers: Powers, cube roots and hypotenuses.
- words: Doubles as two words of 32 bits, which the algorithms test and replace.
"""
