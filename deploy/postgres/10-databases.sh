#!/bin/sh
# Runs once, when the volume is empty: one role and its own databases for Temporal, one for Trustflow.
set -eu

psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=postgres <<'SQL'
\getenv temporal_password TEMPORAL_DATABASE_PASSWORD
\getenv trustflow_password DATABASE_PASSWORD
create role temporal login password :'temporal_password';
create role trustflow login password :'trustflow_password';
create database temporal owner temporal;
create database temporal_visibility owner temporal;
create database trustflow owner trustflow;
revoke connect on database temporal, temporal_visibility, trustflow from public;
SQL
