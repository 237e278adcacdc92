#!/bin/sh
# Brings both of Temporal's stores up to the schema of this release; safe to run again. SQL_* come from the environment.
set -eu

SQL_PASSWORD=$(cat /run/secrets/database_temporal)
export SQL_PASSWORD

for store in temporal:temporal temporal_visibility:visibility; do
  database=${store%%:*}
  schema=${store##*:}
  temporal-sql-tool --database "$database" setup-schema --version 0.0
  temporal-sql-tool --database "$database" update-schema --schema-name "postgresql/v12/$schema"
done
