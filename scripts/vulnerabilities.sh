#!/usr/bin/env bash
# Checks the packages of package-lock.json for known vulnerabilities with osv-scanner and the database that is on this
# machine (OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY), without a network. It exits with 1 if one is known. Where the program or its
# database is missing, it says that the check was skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
skip() {
  echo "vulnerabilities: skipped, $1"
  exit 0
}
command -v osv-scanner >/dev/null || skip 'osv-scanner is not installed'
folder="${OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY:-${XDG_CACHE_HOME:-$HOME/.cache}}"
[ -e "$folder/osv-scanner/npm/all.zip" ] || [ -e "$folder/osv-scalibr/npm/all.zip" ] ||
  skip "no database of npm below $folder (make one: osv-scanner scan --offline --download-offline-databases -L package-lock.json)"
exec osv-scanner scan --offline -L package-lock.json
