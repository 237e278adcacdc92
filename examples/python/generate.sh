#!/bin/sh
# Writes send_postal.py and issue_certificate.py from the JSON Schemas of the processes.
set -eu
cd "$(dirname "$0")"
for process in sendPostal:send_postal issueCertificate:issue_certificate; do
  for part in input result; do
    npx trustflow schema "${process%:*}" --part "$part" |
      datamodel-codegen --input-file-type jsonschema --output-model-type typing.TypedDict --class-name "$part" \
        --no-use-closed-typed-dict --target-python-version 3.11 --disable-timestamp --formatters builtin \
        --output "${process#*:}_$part.py"
  done
done
