#!/bin/sh
# What the image of PostgreSQL does at its start, as far as docker-compose.yml asks for it: an empty volume gets a cluster, whose
# superuser has the password of the file, and then each script of the folder, over the socket alone.
set -eu

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p -m 700 "$PGDATA"
  initdb --pgdata="$PGDATA" --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" --encoding=UTF8 --locale=C \
    --auth=trust --set listen_addresses='*' --set unix_socket_directories=/var/run/postgresql
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl --pgdata="$PGDATA" --wait --options="-c listen_addresses=''" start
  for script in /docker-entrypoint-initdb.d/*.sh; do sh "$script"; done
  pg_ctl --pgdata="$PGDATA" --wait --mode=fast stop
fi
exec "$@"
