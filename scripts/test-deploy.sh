#!/usr/bin/env bash
# Checks docker-compose.yml with Compose's own parser (a Go module) and deploy/kubernetes against the schemas of Kubernetes' API
# (a Python package). Where Go or a registry is missing, that part is skipped, and a line says so.
set -euo pipefail
cd "$(dirname "$0")/.."
cache="${BURSAR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bursar/engines}"
work=$(mktemp -d)
# The oldest release that is supported for long.
KUBERNETES=1.34
trap 'rm -rf "$work"' EXIT

# Fetches the modules of a program of test/deploy. Where that is not possible, the reason is printed.
fetch() {
  # Debian 12 has Go 1.19, which is too old and cannot fetch a newer one.
  local name=$1 go_version
  go_version=$(go env GOVERSION 2>/dev/null || true)
  if [[ ! $go_version =~ ^go1\.(2[4-9]|[3-9][0-9]) ]]; then
    echo "it needs Go 1.24 or later (found: ${go_version:-none})"
    return 1
  fi
  if ! (cd "test/deploy/$name" && go mod download) >"$work/download" 2>&1; then
    echo "it could not be fetched: $(tail -1 "$work/download")"
    return 1
  fi
}

build() { (cd "test/deploy/$1" && go build -mod=readonly -o "$work/$1.program" .); }

compose() {
  local why parser="$work/compose-parser.program"
  if ! why=$(fetch compose-parser); then
    echo "notice: docker-compose.yml not tried with Compose's parser: $why"
    return
  fi
  build compose-parser
  scripts/compose-secrets.sh "$work"
  set -a
  # shellcheck disable=SC1091
  source "$work/.env"
  set +a
  "$parser" "$PWD/docker-compose.yml"
  # A parser that takes everything would not be noticed.
  sed 's/condition: service_healthy/condition: service_well/' docker-compose.yml > "$work/docker-compose.yml"
  if "$parser" "$work/docker-compose.yml" >/dev/null 2>&1; then
    echo "compose: the parser accepts a condition that does not exist" >&2
    return 1
  fi
}

kubernetes() {
  local requirements=test/deploy/requirements.txt folder next
  folder="$cache/kubernetes-validate-$(cat $requirements <(python3 --version) | sha256sum | cut -c1-16)"
  if [[ ! -d $folder ]]; then
    mkdir -p "$cache"
    next=$(mktemp -d "$cache/.fetching-XXXX")
    if ! PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore python3 -m pip install \
      --quiet --only-binary=:all: --require-hashes --target "$next" -r $requirements >"$work/pip" 2>&1; then
      rm -rf "$next"
      echo "notice: deploy/kubernetes not validated, the schemas could not be fetched: $(tail -1 "$work/pip")"
      return
    fi
    mv -T "$next" "$folder" 2>/dev/null || rm -rf "$next"
  fi
  validate() { PYTHONPATH=$folder python3 -m kubernetes_validate -k "$KUBERNETES" --strict --quiet "$@" | tee -a "$work/validated"; }
  local files
  files=$(ls deploy/kubernetes/*.yaml deploy/kubernetes/optional/*.yaml | grep -v -E '/(kustomization|prometheus-adapter|pod-monitors)\.yaml$')
  # shellcheck disable=SC2086
  validate $files
  echo "kubernetes: $(wc -w <<<"$files") files are valid for release $KUBERNETES"
  local why
  if why=$(fetch kustomize); then
    build kustomize
    "$work/kustomize.program" deploy/kubernetes > "$work/rendered.yaml"
    validate "$work/rendered.yaml" >/dev/null
    echo "kubernetes: rendered by kustomize, $(grep -c '^kind:' "$work/rendered.yaml") resources are valid"
  else
    echo "notice: deploy/kubernetes validated file by file and not rendered by kustomize: $why"
  fi
  # A kind without a schema is a warning for the validator; and one that takes everything would not be noticed.
  if grep -q WARN "$work/validated"; then return 1; fi
  sed 's/readinessProbe/readynessProbe/' deploy/kubernetes/api.yaml > "$work/misspelt.yaml"
  if validate "$work/misspelt.yaml" >/dev/null; then
    echo "kubernetes: the validator accepts a field that does not exist" >&2
    return 1
  fi
}

compose
kubernetes
