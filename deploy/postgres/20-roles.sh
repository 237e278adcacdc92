#!/bin/sh
# The database roles of receiver, relay, worker, clean-up and operators, with their passwords; `trustflow migrate` gives each its
# rights. Runs after 10-databases.sh, and by hand whenever a password has changed: safe to run again.
set -eu

secrets=${SECRETS_DIRECTORY:-/run/secrets}
for role in receiver relay worker cleanup operator; do
  role_password=$(cat "$secrets/database_$role")
  export role role_password
  psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
\getenv role role
\getenv role_password role_password
select format('create role trustflow_%s login', :'role')
  where not exists (select from pg_roles where rolname = 'trustflow_' || :'role') \gexec
select format('alter role trustflow_%s password %L', :'role', :'role_password') \gexec
select format('grant connect on database trustflow to trustflow_%s', :'role') \gexec
SQL
done
