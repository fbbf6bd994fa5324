#!/bin/sh
# Turns secrets from the environment into what Airflow reads, then becomes the command.
set -eu
umask 077
if [ -n "${HEDDLE_ADMIN_PASSWORD:-}" ]; then
    export AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE="${AIRFLOW_HOME:?}/passwords.json"
    python -c 'import json, os; print(json.dumps({"admin": os.environ["HEDDLE_ADMIN_PASSWORD"]}))' \
        > "$AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"
    unset HEDDLE_ADMIN_PASSWORD
fi
umask 022
exec "$@"
