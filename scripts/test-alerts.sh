#!/usr/bin/env bash
# Tests the alert rules with promtool (Debian's package prometheus). Without it the test is skipped with a line that says so.
set -euo pipefail
cd "$(dirname "$0")/../deploy/observability"

if ! command -v promtool >/dev/null && [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  (apt-get update -qq && apt-get install -y -qq --no-install-recommends prometheus) >/dev/null 2>&1 || true
fi
if ! command -v promtool >/dev/null; then
  echo "notice: alert rules not tested: promtool not found (Debian, Ubuntu: apt-get install prometheus)"
  exit 0
fi
promtool check rules alerts.yml
promtool test rules alerts.test.yml
