#!/bin/sh
# Builds NORA, a registry that `npm run bench -- publish` compares with, from crates.io. It takes
# long, so nothing runs this by itself; where the binary is missing, the benchmark says so.
set -eu
version=1.4.3
peers="${XDG_CACHE_HOME:-$HOME/.cache}/plimsoll/peers"
mkdir -p "$peers"
install() {
  nice -n 19 cargo install "nora-registry@$version" --jobs "${JOBS:-1}" \
    --root "$peers/nora-$version" --target-dir "$peers/nora-$version-target" "$@"
}
# A mirror of crates.io may not have every version of the lock file.
install --locked || install
rm -rf "$peers/nora-$version-target"
