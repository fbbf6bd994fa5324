"""What Airflow's own pages show of Heddle."""
