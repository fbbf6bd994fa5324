"""The program: a catalog and a plan compiled into what every task needs.

- compile: Compiles a plan and its catalog into the program the engine runs.
- queries: What is known of a query before its events: its label, its type, whether kernels can fold it, its lane.
- program: What the engine runs: a plan and its catalog, compiled into plain data that tasks can carry.
- spark_types: Types: how values are coded as numbers, and what type Spark gives an aggregate of them.
"""
