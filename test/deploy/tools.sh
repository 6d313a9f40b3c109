#!/usr/bin/env bash
# tools.sh CACHE: compiles the programs that check deploy/ into CACHE, at fixed versions, from the Go module proxy; a second
# run does nothing. `npm run check:deploy` uses them where it finds them there. Wants `go` (1.25 or newer); helm and
# promtool take some minutes each. Prints the folder to put on the PATH.
set -euo pipefail
mkdir -p "${1:?a folder to keep them in}"
cache=$(cd "$1" && pwd)
export PATH="$PATH:/usr/local/go/bin" GOBIN="$cache/bin"

compile() { # compile PACKAGE@VERSION: unless this version is there
  local stamp="$cache/${1//\//_}"
  [ -e "$stamp" ] && return
  CGO_ENABLED=0 go install -trimpath -ldflags='-s -w' "$1" >&2
  touch "$stamp"
}

compile github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
compile helm.sh/helm/v3/cmd/helm@v3.22.0
compile github.com/benbjohnson/litestream/cmd/litestream@v0.5.18
compile github.com/prometheus/prometheus/cmd/promtool@v0.316.0

# The schemas of Kubernetes, from Python's registry.
[ -e "$cache/python/bin/kubernetes-validate" ] ||
  { python3 -m venv "$cache/python" && "$cache/python/bin/pip" install -q kubernetes-validate==1.37.0 >&2; }
echo "$cache/bin"
