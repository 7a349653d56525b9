#!/bin/sh
# Turns the runtime's Rust static library into what programs link to.
#
#   scripts/link-runtime.sh [OPTION] LIBRARY FOLDER [OBJECT]          libthreadtalk_rt.a, libthreadtalk_rt.so, libthreadtalk_rt.syms
#   scripts/link-runtime.sh [OPTION] --wrap LIBRARY FOLDER [OBJECT]   libthreadtalk_rt_static.a, libthreadtalk_rt_static.wrap
#
# --debug-info: with line tables of the runtime, for who profiles it.
#
# OBJECT holds the functions that instrumented code calls (the pass makes them: scripts/build.sh); programs that call hooks
# alone need none.
#
# A Rust static library brings the symbols of Rust's own library, which clash with those of any other Rust static library in the
# program. So it becomes one relocatable object in which only the runtime's interface is global. The
# C library's names are weak in it: a program that defines its own `free` keeps it.
#
# Each program that is linked pays for what the linker reads. Without line tables and with one section for each kind ld took 21 ms
# for a small program, 15 of them without a runtime; with them, and one for each function, 37.
set -eu

wrap=
strip=--strip-debug
while [ $# -gt 0 ]; do
    case $1 in
    --wrap) wrap=1 ;;
    --debug-info) strip= ;;
    *) break ;;
    esac
    shift
done
library=$1
folder=$2
functions=${3:-}
cc=${CC:-clang-19}
# A folder that was copied without its archives' members leaves an empty one, from which ld takes nothing and says nothing.
if ! ar t "$library" | grep -q .; then
    echo "scripts/link-runtime.sh: $library is no archive with members: remove it and build again" >&2
    exit 1
fi
mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Link-time optimisation left the runtime in one member, which this symbol pulls in.
ld -r -u __threadtalk_init -o "$scratch/all.o" ${functions:+"$functions"} "$library"

# What Rust does not mangle is the interface.
nm --defined-only --extern-only --format=posix "$scratch/all.o" | cut -d' ' -f1 | grep -v -e '^_ZN' -e '^_R' -e '^rust_' |
    sort >"$scratch/interface"
grep -v -e '^__threadtalk_' -e '^threadtalk\.' "$scratch/interface" | grep -v '^__wrap_' >"$scratch/weak" || true
# What lld may fold is named by places in a table of symbols that is no longer there.
objcopy --keep-global-symbols="$scratch/interface" --weaken-symbols="$scratch/weak" --remove-section=.llvm_addrsig $strip \
    "$scratch/all.o" "$scratch/library.o"

# .preinit_array comes before all constructors, but only executables may have one.
objcopy --rename-section .init_array.00000=.preinit_array "$scratch/library.o" "$scratch/sections.o"
cat >"$scratch/sections.ld" <<'END'
SECTIONS {
    .text.unlikely 0 : { *(.text.unlikely .text.unlikely.*) }
    .text 0 : { *(.text .text.*) }
    .rodata 0 : { *(.rodata .rodata.*) }
    .data.rel.ro 0 : { *(.data.rel.ro .data.rel.ro.*) }
    .data 0 : { *(.data .data.*) }
    .bss 0 : { *(.bss .bss.*) }
}
END
ld -r -T "$scratch/sections.ld" -o "$scratch/executable.o" "$scratch/sections.o"

if [ -n "$wrap" ]; then
    archive=$folder/libthreadtalk_rt_static.a
    sed -n 's/^__wrap_/--wrap=/p' "$scratch/interface" >"$folder/libthreadtalk_rt_static.wrap"
else
    archive=$folder/libthreadtalk_rt.a
    {
        # An executable exports these to the libraries that it loads.
        echo '{'
        echo '    __threadtalk_*;'
        echo '    threadtalk.*;'
        sed 's/.*/    &;/' "$scratch/weak"
        echo '};'
    } >"$folder/libthreadtalk_rt.syms"
    # initfirst: preloaded, its constructor is the first of all libraries'. now: its functions keep registers that the
    # dynamic linker does not keep when it binds a call at its first use (r10).
    "$cc" -shared -Wl,-soname,libthreadtalk_rt.so -Wl,-z,initfirst -Wl,-z,now -Wl,-z,defs -Wl,--gc-sections \
        -o "$folder/libthreadtalk_rt.so" "$scratch/library.o"
fi
rm -f "$archive"
ar rcsD "$archive" "$scratch/executable.o"
