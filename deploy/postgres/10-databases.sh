#!/bin/sh
# Runs once, when the volume is empty: one role and its own databases for Temporal, the owner and database of Trustflow's tables.
set -eu

temporal_password=$(cat /run/secrets/database_temporal)
owner_password=$(cat /run/secrets/database_owner)
export temporal_password owner_password

psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
\getenv temporal_password temporal_password
\getenv owner_password owner_password
create role temporal login password :'temporal_password';
create role trustflow login password :'owner_password';
create database temporal owner temporal;
create database temporal_visibility owner temporal;
create database trustflow owner trustflow;
revoke connect on database temporal, temporal_visibility, trustflow from public;
SQL
