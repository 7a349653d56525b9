#!/bin/sh
# All checks, as CI runs them. scripts/test.sh --fast leaves out the long tests.
set -eu
cd "$(dirname "$0")/.."
LLVM_SYS_191_PREFIX=${LLVM_SYS_191_PREFIX:-/usr/lib/llvm-19}
export LLVM_SYS_191_PREFIX

step() {
    echo "== $*"
    "$@"
}

step scripts/install.sh
step cargo fmt --all --check
step cargo clippy --locked --workspace --exclude threadtalk-runtime-archive --all-targets -- -D warnings
step scripts/build.sh
step cargo test --locked --workspace --exclude threadtalk-runtime-archive
if [ "${1:-}" != --fast ]; then
    echo "== unsafe code under valgrind: real threads on one signature memory, the ends of tables and addresses"
    signature=$(cargo test --locked -p threadtalk-sigmem --test signature --no-run 2>&1 | sed -n 's/.*(\(.*signature-[^)]*\)).*/\1/p')
    valgrind --quiet --error-exitcode=1 "$signature" stress edges
    echo "== loom: every interleaving that the memory model allows"
    RUSTFLAGS="--cfg loom" cargo test --locked --release -p threadtalk-sigmem --target-dir target/loom --test loom
    echo "== long tests"
    THREADTALK_FUZZ_SECONDS=${THREADTALK_FUZZ_SECONDS:-60} cargo test --locked --workspace --exclude threadtalk-runtime-archive -- --ignored
fi
