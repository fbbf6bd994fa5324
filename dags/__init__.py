"""What Airflow schedules: parameters, order, schedule. Tasks import what is heavy when they run."""
