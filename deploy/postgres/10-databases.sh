#!/bin/sh
# One role and its own databases for Temporal, the owner and database of Trustflow's tables, with the passwords of their files.
# Runs when the volume is empty, and by `docker compose run --rm database-setup`: safe to run again.
set -eu

secrets=${SECRETS_DIRECTORY:-/run/secrets}
temporal_password=$(cat "$secrets/database_temporal")
owner_password=$(cat "$secrets/database_owner")
export temporal_password owner_password

psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
\getenv temporal_password temporal_password
\getenv owner_password owner_password
select format('create role %I login', name) from unnest('{temporal, trustflow}'::text[]) name
  where not exists (select from pg_roles where rolname = name) \gexec
alter role temporal password :'temporal_password';
alter role trustflow password :'owner_password';
select format('create database %I owner %I', name, owner)
  from (values ('temporal', 'temporal'), ('temporal_visibility', 'temporal'), ('trustflow', 'trustflow')) wanted (name, owner)
  where not exists (select from pg_database where datname = name) \gexec
revoke connect on database temporal, temporal_visibility, trustflow from public;
revoke connect, temporary on database postgres, template1 from public;
SQL
