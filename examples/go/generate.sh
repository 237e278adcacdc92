#!/bin/sh
# Writes types.go from the JSON Schemas of the processes.
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
schema() { npx trustflow schema "$1" --part "$2"; }
# Go has no type for "one of two", and the schema has a form for the holder's data and one for an eID assertion; nor has it one for a date.
holder='JSON.stringify(JSON.parse(require("fs").readFileSync(0)).anyOf[0], (_, value) => (value === "date" ? undefined : value))'
schema sendPostal input > "$folder/SendPostalInput.json"
schema sendPostal result > "$folder/SendPostalResult.json"
schema issueCertificate input | node -p "$holder" > "$folder/IssueCertificateInput.json"
schema issueCertificate result > "$folder/IssueCertificateResult.json"
go run github.com/atombender/go-jsonschema@v0.24.1 --package main --tags json --only-models "$folder"/*.json |
  sed 's/InputJson/Input/g; s/ResultJson/Result/g' | gofmt > types.go
