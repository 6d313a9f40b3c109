#!/usr/bin/env bash
# debian-cargo.sh CACHE: Debian's two Cargos beside each other, each with its compiler, below the folder CACHE. The packages
# conflict with one another and with others, so nothing is installed: what is missing on this computer is downloaded and
# unpacked. A second run does nothing. Prints the two programs, for PLIMSOLL_CARGO:
#   CACHE/cargo/bin/cargo       the stable release's own (Debian 12: Cargo 0.66 of Rust 1.65, before sparse indexes)
#   CACHE/cargo-web/bin/cargo   the one kept up to date for browsers
# Wants apt-get with package lists (`apt-get update`), and a C compiler as linker. Root is not needed.
set -euo pipefail
mkdir -p "${1:?a folder to keep them in}"
cache=$(cd "$1" && pwd)
command -v cc >/dev/null || { echo 'rustc needs a linker: apt-get install gcc libc6-dev' >&2; exit 1; }

fetch() { # fetch SUFFIX: cargo, its compiler and whatever library is not installed, into CACHE/cargoSUFFIX
  local folder="$cache/cargo$1" version packages
  version=$(apt-cache policy "cargo$1" | sed -n 's/^ *Candidate: //p')
  if [ "$(cat "$folder/version" 2>/dev/null)" = "$version" ]; then return; fi
  rm -rf "$folder"
  mkdir -p "$folder/deb/partial" "$folder/root" "$folder/bin"
  packages=("cargo$1" "rustc$1" "libstd-rust$1-dev" "$(apt-cache depends "libstd-rust$1-dev" | awk '/Depends: libstd/ {print $2; exit}')")
  # By name and again, because what is installed would be left out.
  apt-get install --reinstall --download-only --yes --no-install-recommends -qq \
    -o "Dir::Cache::archives=$folder/deb" -o Debug::NoLocking=1 "${packages[@]}" >&2
  for deb in "$folder"/deb/*.deb; do dpkg-deb --extract "$deb" "$folder/root"; done
  rm -r "$folder/deb"
  for program in cargo rustc; do wrap "$folder" "$program"; done
  "$folder/bin/cargo" --version >&2
  "$folder/bin/rustc" --version >&2
  echo "$version" >"$folder/version"
}

wrap() { # wrap FOLDER PROGRAM: a script that runs the unpacked program with its own libraries
  local libraries
  libraries=$(find "$1/root" -name '*.so*' -printf '%h\n' | grep -v rustlib | sort -u | paste -sd:)
  printf '#!/bin/sh\nexport LD_LIBRARY_PATH="%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"\nexec "%s" "$@"\n' \
    "$libraries" "$1/root/usr/bin/$2" >"$1/bin/$2"
  chmod +x "$1/bin/$2"
}

for suffix in '' -web; do
  fetch "$suffix"
  echo "$cache/cargo$suffix/bin/cargo"
done
