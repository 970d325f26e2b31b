#!/usr/bin/env bash
# Makes the secrets of docker-compose.yml: .env, and the folder .compose with certificates of an authority of its own, the key
# file of the MongoDB members and the sign-in of the Temporal UI. It needs openssl, and changes nothing that is there already.
# Keep both: without the pepper no stored key is valid, and without the sealing keys no sealed field opens.
#
# scripts/compose-secrets.sh [folder]   (default: the folder of docker-compose.yml)
set -euo pipefail
umask 077
cd "${1:-"$(dirname "$0")/.."}"

touch .env
# A file of an earlier release gets the names that it lacks.
keep() { grep -q "^$1=" .env || echo "$1=$2" >> .env; }
for name in BURSAR_KEY_PEPPER SANDBOX_BANK_SECRET POSTGRES_PASSWORD TEMPORAL_UI_PASSWORD MONGODB_ADMIN_PASSWORD \
  BURSAR_DATABASE_PASSWORD_MIGRATE BURSAR_DATABASE_PASSWORD_SERVICE BURSAR_DATABASE_PASSWORD_OPERATOR \
  BURSAR_DATABASE_PASSWORD_READ_ONLY; do
  keep "$name" "$(openssl rand -hex 32)"
done
keep BURSAR_SEALING_KEYS "k1:$(openssl rand -base64 32)"

[[ -e .compose ]] && exit 0
rm -rf .compose.new
mkdir .compose.new
cd .compose.new
openssl rand -base64 756 | tr -d '\n' > mongodb-keyfile

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }
new_key ca.key
# While one authority takes the place of another, both are trusted: two of one name could not be told apart.
openssl req -x509 -key ca.key -subj "/CN=Bursar of docker-compose.yml $(openssl rand -hex 4)" -days 3650 -out ca.pem \
  -addext 'basicConstraints=critical,CA:TRUE' -addext 'keyUsage=critical,keyCertSign,cRLSign'

# certificate <name> <alternative names>: usable by a server and by a client, because members call each other.
certificate() {
  new_key "$1.key"
  openssl req -new -key "$1.key" -subj "/O=Bursar/CN=$1" | openssl x509 -req -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 -out "$1.crt" \
    -extfile <(printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\nkeyUsage=digitalSignature\n' "$2")
  cat "$1.crt" "$1.key" > "$1.pem"
}
certificate mongodb DNS:mongo1,DNS:mongo2,DNS:mongo3,DNS:localhost,IP:127.0.0.1
certificate temporal DNS:temporal,DNS:localhost,IP:127.0.0.1
certificate bursar DNS:bursar
certificate temporal-ui DNS:temporal-ui
# The sign-in at the proxy in front of the Temporal UI: the user is operator, its password is in .env.
hash=$(sed -n 's/^TEMPORAL_UI_PASSWORD=//p' ../.env | openssl passwd -apr1 -stdin)
echo "operator:$hash" > temporal-ui.htpasswd

# Each container mounts the files that it needs and reads them as its own user; on this machine the folder keeps others out.
chmod 444 ./*
chmod 400 ca.key
cd ..
mv .compose.new .compose
