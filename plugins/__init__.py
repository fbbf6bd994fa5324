"""What Airflow's own pages show of Heddle.

- heddle_plugin: The plugin that Airflow loads: a page in its navigation, and a tab on every run of a DAG.
- heddle_operators: Operators that put Heddle into a DAG of one's own: replan, or evaluate, audit and publish.
- heddle_provider: What Airflow reads of Heddle as a provider: its operators, and OpenLineage's datasets.
- heddle_page: The page in Airflow: what it reads, how it arranges that, and its templates.
"""
