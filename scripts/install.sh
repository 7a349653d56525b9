#!/bin/sh
# Installs what is missing of scripts/packages.txt. Needs root only if something is missing.
set -eu
cd "$(dirname "$0")/.."

missing=
for package in $(grep -v '^#' scripts/packages.txt); do
    dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done
if [ -n "$missing" ]; then
    echo "installing:$missing"
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "scripts/install.sh: as root, run: apt-get install$missing" >&2; exit 1; }
        as_root=sudo
    fi
    $as_root apt-get update -q
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
fi

if ! command -v cargo >/dev/null; then
    echo "scripts/install.sh: cargo is not there; install Rust 1.88 or newer (https://rustup.rs)" >&2
    exit 1
fi
