#!/bin/sh
# Writes the JSON Schemas of the processes, from which Maven makes the types.
set -eu
cd "$(dirname "$0")"
schema() { npx trustflow schema "$1" --part "$2"; }
# The generator has no type for "one of two", and the schema has a form for the holder's data and one for an eID assertion.
holder='JSON.stringify(JSON.parse(require("fs").readFileSync(0)).anyOf[0], undefined, 2)'
# A folder is a package of the types.
schemas=src/main/schemas
mkdir -p "$schemas/sendpostal/result" "$schemas/issuecertificate/result"
schema sendPostal input > "$schemas/sendpostal/SendPostalInput.json"
schema sendPostal result > "$schemas/sendpostal/result/SendPostalResult.json"
schema issueCertificate input | node -p "$holder" > "$schemas/issuecertificate/IssueCertificateInput.json"
schema issueCertificate result > "$schemas/issuecertificate/result/IssueCertificateResult.json"
