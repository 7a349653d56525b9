#!/bin/sh
# From nothing to a report: installs what is missing, builds, profiles LU with non-contiguous and with contiguous blocks,
# prints both summaries and where the pages are.
#
#   scripts/demo.sh [FOLDER]        FOLDER: target/demo
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
folder=${1:-$root/target/demo}

scripts/install.sh
echo "building (some minutes the first time)"
scripts/build.sh

bin=$root/target/threadtalk/bin
mkdir -p "$folder"

profile() { # name, compiler flags
    name=$1
    shift
    rm -rf "$folder/$name" "$folder/$name.ttp"
    "$bin/threadtalk-cc" -O2 -g -pthread "$@" -o "$folder/$name.bin" benchmarks/kernels/lu.c -lm
    "$bin/threadtalk" run --quiet -o "$folder/$name.ttp" -- "$folder/$name.bin" -t 4 -n 512
    "$bin/threadtalk" report "$folder/$name.ttp" -o "$folder/$name"
    "$bin/threadtalk" report "$folder/$name.ttp" --top 8
    echo
}

profile lu
profile lu-contiguous -DCONTIGUOUS

echo "Open in a browser: $folder/lu/index.html"
echo "              and: $folder/lu-contiguous/index.html"
