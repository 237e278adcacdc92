#!/bin/sh
# The certificates of deploy/mtls/compose.yml: two authorities of our own, the servers' with Temporal's certificate, and the clients'
# with one for each that Temporal serves. Run it again to renew: what is there stays, so first remove the files of those that you
# renew. DAYS=… says how long they are good.
set -eu

directory=${1:?the folder, such as secrets/tls}
days=${DAYS:-365}
mkdir -p "$directory"
chmod 700 "$directory"
cd "$directory"
umask 077
trap 'rm -f new.pem new.csr new.ext openssl.log' EXIT

# What OpenSSL says is shown only where it fails.
run_openssl() {
  openssl "$@" 2>openssl.log || { cat openssl.log >&2; exit 1; }
}

# A certificate gets its name last, so one that is there is whole.
for authority in server-ca client-ca; do
  [ ! -s "$authority.pem" ] || continue
  run_openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/CN=trustflow temporal $authority" \
    -keyout "$authority-key.pem" -out new.pem
  chmod 444 new.pem
  mv new.pem "$authority.pem"
done

for name in temporal migrate worker relay cleanup cli erase temporal-cli web-ui application; do
  [ ! -s "$name.pem" ] || continue
  authority=client-ca purpose=clientAuth
  # Temporal's parts call each other too, so its certificate is good for both sides.
  [ "$name" != temporal ] || authority=server-ca purpose=serverAuth,clientAuth
  [ -f "$authority-key.pem" ] || { echo "bring back $authority-key.pem, which signs $name.pem" >&2; exit 1; }
  rm -f "$name-key.pem"
  run_openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$name" -keyout "$name-key.pem" -out new.csr
  printf 'subjectAltName=DNS:%s,DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=%s\nbasicConstraints=CA:FALSE\n' "$name" "$purpose" > new.ext
  run_openssl x509 -req -in new.csr -CA "$authority.pem" -CAkey "$authority-key.pem" -CAcreateserial -days "$days" -extfile new.ext -out new.pem
  # The folder is its owner's alone; a container runs under an id of its own and sees its own files only.
  chmod 444 new.pem "$name-key.pem"
  mv new.pem "$name.pem"
done
