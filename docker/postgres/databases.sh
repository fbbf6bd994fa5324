#!/bin/sh
# Run once by the Postgres image, on an empty volume: a database and an owner for Airflow and for MLflow.
set -eu
create() {
    psql -v ON_ERROR_STOP=1 -v owner="$1" -v password="$2" --username "$POSTGRES_USER" <<'SQL'
CREATE USER :"owner" WITH PASSWORD :'password';
CREATE DATABASE :"owner" OWNER :"owner";
SQL
}
create airflow "$AIRFLOW_DATABASE_PASSWORD"
create mlflow "$MLFLOW_DATABASE_PASSWORD"
