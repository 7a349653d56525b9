#!/bin/sh
# Builds the tool and lays it out as it is installed:
#
#   FOLDER/bin/threadtalk, threadtalk-cc, threadtalk-c++, threadtalk-fc, threadtalk-llvm-ar, threadtalk-llvm-ranlib
#   FOLDER/lib/threadtalk/libthreadtalk_pass.so            the compiler plugin
#   FOLDER/lib/threadtalk/libthreadtalk_rt.a, .syms        the runtime for executables, and what they export of it
#   FOLDER/lib/threadtalk/libthreadtalk_rt_static.a, .wrap the same for executables linked with -static
#   FOLDER/lib/threadtalk/libthreadtalk_rt.so              the same to preload
#   FOLDER/include/threadtalk.h
#
#   scripts/build.sh [--runtime-only] [--trace] [--debug-info] [FOLDER]   FOLDER: target/threadtalk
#
# --debug-info: the tool keeps its line tables, and programs hold those of the runtime, for who profiles it. They link more slowly.
# --trace: a runtime that writes the lifecycle's events to the file THREADTALK_TRACE, for tests whose programs are not
# instrumented: it needs no pass, and has none of the functions that instrumented modules share.
set -eu

only_runtime=
features=
debug_info=
while [ $# -gt 0 ]; do
    case $1 in
    --runtime-only) only_runtime=1 ;;
    --trace) features=trace ;;
    --debug-info) debug_info=--debug-info ;;
    -*)
        echo "scripts/build.sh: unknown option $1: --runtime-only, --trace and --debug-info are the options" >&2
        exit 2
        ;;
    *) break ;;
    esac
    shift
done

root=$(cd "$(dirname "$0")/.." && pwd)
# A relative folder is the caller's.
folder=${1:-$root/target/threadtalk}
mkdir -p "$folder/bin" "$folder/lib/threadtalk" "$folder/include"
folder=$(cd "$folder" && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}

if [ -z "$only_runtime" ]; then
    LLVM_SYS_191_PREFIX=${LLVM_SYS_191_PREFIX:-/usr/lib/llvm-19}
    export LLVM_SYS_191_PREFIX
    cargo build --locked --quiet --release --package threadtalk-instrument --package threadtalk
    install -m 755 "$target/release/threadtalk" "$folder/bin/threadtalk"
    install -m 755 "$target/release/libthreadtalk_instrument.so" "$folder/lib/threadtalk/libthreadtalk_pass.so"
    if [ -z "$debug_info" ]; then
        strip --strip-debug "$folder/bin/threadtalk" "$folder/lib/threadtalk/libthreadtalk_pass.so"
    fi
    install -m 644 report/include/threadtalk.h "$folder/include/threadtalk.h"
    for name in threadtalk-cc threadtalk-c++ threadtalk-fc threadtalk-llvm-ar threadtalk-llvm-ranlib; do
        ln -sf threadtalk "$folder/bin/$name"
    done
    "$folder/bin/threadtalk" man "$folder/share/man/man1"
fi

# The pass itself makes the functions that instrumented modules share; that of the folder, if only the runtime is built.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
functions=
if [ -z "$features" ]; then
    functions=$scratch/functions.o
    THREADTALK_PASS_OPTIONS=functions=1 "${CC:-clang-19}" -O2 -fPIC \
        -fpass-plugin="$folder/lib/threadtalk/libthreadtalk_pass.so" -x c -c /dev/null -o "$functions" || {
        echo "scripts/build.sh: the pass in $folder cannot make the runtime's functions: build without --runtime-only" >&2
        exit 1
    }
fi

# The two archives differ in features, so each is copied away before the next is built.
build_runtime() {
    option=$1
    cargo build --locked --quiet --package threadtalk-runtime-archive --profile runtime --features "$2"
    scripts/link-runtime.sh $debug_info $option "$target/runtime/libthreadtalk_rt.a" "$folder/lib/threadtalk" ${functions:+"$functions"}
}
build_runtime "" "$features"
build_runtime --wrap "wrap $features"
