"""Events to partials, partials to finals, and the commit between: everything a micro-batch does, without Spark."""
