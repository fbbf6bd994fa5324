"""What runs on Spark: kernels, the engine, and one entry point per step."""

from jobs.cache import use_kernel_cache

use_kernel_cache()  # before numba is imported anywhere below
