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

for authority in server-ca client-ca; do
  [ ! -f "$authority.pem" ] || continue
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/CN=trustflow temporal $authority" \
    -keyout "$authority-key.pem" -out "$authority.pem" 2>/dev/null
  chmod 444 "$authority.pem"
done

for name in temporal migrate worker relay cleanup cli erase temporal-cli web-ui application; do
  [ ! -f "$name.pem" ] || continue
  authority=client-ca purpose=clientAuth
  # Temporal's parts call each other too, so its certificate is good for both sides.
  [ "$name" != temporal ] || authority=server-ca purpose=serverAuth,clientAuth
  [ -f "$authority-key.pem" ] || { echo "bring back $authority-key.pem, which signs $name.pem" >&2; exit 1; }
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$name" -keyout "$name-key.pem" -out "$name.csr" 2>/dev/null
  printf 'subjectAltName=DNS:%s,DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=%s\nbasicConstraints=CA:FALSE\n' "$name" "$purpose" > "$name.ext"
  openssl x509 -req -in "$name.csr" -CA "$authority.pem" -CAkey "$authority-key.pem" -CAcreateserial -days "$days" -extfile "$name.ext" -out "$name.pem" 2>/dev/null
  rm "$name.csr" "$name.ext"
  # The folder is its owner's alone; a container runs under an id of its own and sees its own files only.
  chmod 444 "$name.pem" "$name-key.pem"
done
