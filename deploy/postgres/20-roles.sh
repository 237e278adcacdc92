#!/bin/sh
# The database roles of receiver, relay, worker, clean-up and operators, with their passwords; `trustflow migrate` gives each its
# rights. Runs after 10-databases.sh, and like it: safe to run again.
set -eu

secrets=${SECRETS_DIRECTORY:-/run/secrets}
run() {
  psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=trustflow
}

for role in receiver relay worker cleanup operator; do
  role_password=$(cat "$secrets/database_$role")
  export role role_password
  run <<'SQL'
\getenv role role
\getenv role_password role_password
select format('create role trustflow_%s login', :'role')
  where not exists (select from pg_roles where rolname = 'trustflow_' || :'role') \gexec
select format('alter role trustflow_%s password %L', :'role', :'role_password') \gexec
select format('grant execute on function %s to trustflow_%s', oid::regprocedure, :'role')
  from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^pg_(try_)?advisory_' and :'role' <> 'receiver' \gexec
SQL
done

# Large objects are everybody's at first, and no table's rights cover them: the receiver would store without a limit.
# Advisory locks are everybody's at first, and only a superuser may take them away. Who holds one can stop the relays and `migrate`,
# so the receiver, which the internet reaches, gets none. After the grants, so that nobody who runs already is without them; before the
# roles may connect for the first time.
run <<'SQL'
select format('grant execute on function %1$s to trustflow; revoke execute on function %1$s from public', oid::regprocedure)
  from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^pg_(try_)?advisory_' \gexec
select format('revoke execute on function %s from public', oid::regprocedure)
  from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname in ('lo_creat', 'lo_create', 'lo_from_bytea') \gexec
grant connect on database trustflow
  to trustflow_receiver, trustflow_relay, trustflow_worker, trustflow_cleanup, trustflow_operator;
SQL
