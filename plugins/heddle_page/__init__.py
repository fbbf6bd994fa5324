"""The page: gather.py and what it calls read, view modules arrange, templates show; only app.py knows Airflow."""
