#!/bin/sh
# Prints fresh secrets for compose.yaml: `sh docker/secrets.sh > docker/.env`, once, and keep the file.
set -eu
random() { head -c "$1" /dev/urandom | od -An -tx1 | tr -d ' \n'; }
fernet() { head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '\n'; }
echo "POSTGRES_PASSWORD=$(random 24)"
echo "AIRFLOW_DATABASE_PASSWORD=$(random 24)"
echo "MLFLOW_DATABASE_PASSWORD=$(random 24)"
echo "AIRFLOW_FERNET_KEY=$(fernet)"
echo "AIRFLOW_JWT_SECRET=$(random 32)"
echo "AIRFLOW_SECRET_KEY=$(random 32)"
echo "HEDDLE_ADMIN_PASSWORD=$(random 12)"
