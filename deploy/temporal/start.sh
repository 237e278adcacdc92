#!/bin/sh
# Starts Temporal in a container that cannot change its files: the image's own script writes its configuration beside the template.
# Temporal takes its password from the environment alone.
set -eu

POSTGRES_PWD=$(cat "${SECRETS_DIRECTORY:-/run/secrets}/database_temporal")
export POSTGRES_PWD

root=${ROOT_DIRECTORY:-/tmp/temporal}
rm -rf "$root"
mkdir "$root"
cp -R "${TEMPORAL_HOME:-/etc/temporal}/config" "$root/config"
# Images without this program let the server itself fill in config/docker.yaml.
if command -v dockerize >/dev/null; then
  dockerize -template "$root/config/config_template.yaml:$root/config/docker.yaml"
fi
exec temporal-server --root "$root" --env docker start
