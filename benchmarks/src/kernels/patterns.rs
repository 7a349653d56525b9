//! The patterns: some lines each, of one way to read what other threads wrote. Kernels mix them, so that one that
//! became ten times slower hardly shows there.

use super::{Kernel, Language, kernel};

const fn pattern(
    name: &'static str,
    source: &'static str,
    defines: &'static [&'static str],
    full: &'static [&'static str],
) -> Kernel {
    let is_c = matches!(source.as_bytes(), [.., b'.', b'c']);
    let language = if is_c { Language::C } else { Language::Cxx };
    let tiny = &["-n", "301", "-r", "3"];
    Kernel { full, ..kernel(name, source, source, defines, language, &["-r", "5"], tiny) }
}

/// All patterns, in the order of the tables. Natively each takes 5 to 200 ms of CPU time.
pub const PATTERNS: &[Kernel] = &[
    pattern("structures-point", "patterns/structures.c", &["POINT"], &["-r", "1000"]),
    pattern("structures-point-backward", "patterns/structures.c", &["POINT", "BACKWARD"], &["-r", "1000"]),
    pattern("structures-point-some", "patterns/structures.c", &["POINT", "SOME"], &["-r", "1000"]),
    pattern("structures-particle", "patterns/structures.c", &["PARTICLE"], &["-r", "1000"]),
    pattern("structures-floats", "patterns/structures.c", &["FLOATS"], &["-r", "1000"]),
    pattern("structures-mixed", "patterns/structures.c", &["MIXED"], &["-r", "1000"]),
    pattern("structures-wide", "patterns/structures.c", &["WIDE"], &["-r", "500"]),
    pattern("structures-entry", "patterns/structures.c", &["ENTRY"], &["-r", "1000"]),
    pattern("structures-entry-backward", "patterns/structures.c", &["ENTRY", "BACKWARD"], &["-r", "1000"]),
    pattern("structures-condition", "patterns/structures.c", &["CONDITION"], &["-r", "1000"]),
    pattern("structures-pixel", "patterns/structures.c", &["PIXEL"], &["-r", "1000"]),
    pattern("structures-pixel-some", "patterns/structures.c", &["PIXEL", "SOME"], &["-r", "500"]),
    pattern("rows-cyclic", "patterns/rows.c", &["CYCLIC"], &["-n", "300", "-r", "100"]),
    pattern("rows-transposed", "patterns/rows.c", &["TRANSPOSED"], &["-n", "400", "-r", "100"]),
    pattern("rows-stencil", "patterns/rows.c", &["STENCIL"], &["-n", "500", "-r", "200"]),
    pattern("rows-sweep", "patterns/rows.c", &["SWEEP"], &["-n", "300", "-r", "300"]),
    pattern("rows-pieces", "patterns/rows.c", &["PIECES"], &["-n", "400", "-r", "200"]),
    pattern("indirect-gather", "patterns/indirect.c", &["GATHER"], &["-n", "100000", "-r", "100"]),
    pattern("indirect-scatter", "patterns/indirect.c", &["SCATTER"], &["-n", "100000", "-r", "100"]),
    pattern("indirect-histogram", "patterns/indirect.c", &["HISTOGRAM"], &["-n", "100000", "-r", "200"]),
    pattern("indirect-list", "patterns/indirect.c", &["LIST"], &["-n", "10000", "-r", "500"]),
    pattern("indirect-tree", "patterns/indirect.c", &["TREE"], &["-n", "10000", "-r", "50"]),
    pattern("indirect-table", "patterns/indirect.c", &["TABLE"], &["-n", "20000", "-r", "50"]),
    pattern("indirect-swaps", "patterns/indirect.c", &["SWAPS"], &["-n", "50000", "-r", "50"]),
    pattern("text-words", "patterns/text.c", &["WORDS"], &["-n", "100000", "-r", "100"]),
    pattern("text-upper", "patterns/text.c", &["UPPER"], &["-n", "100000", "-r", "500"]),
    pattern("text-checksum", "patterns/text.c", &["CHECKSUM"], &["-n", "100000", "-r", "100"]),
    pattern("text-matches", "patterns/text.c", &["MATCHES"], &["-n", "100000", "-r", "10"]),
    pattern("text-blocks", "patterns/text.c", &["BLOCKS"], &["-n", "65536", "-r", "100"]),
    pattern("blocks-five", "patterns/blocks.c", &["FIVE"], &["-n", "1000", "-r", "500"]),
    pattern("blocks-pointers", "patterns/blocks.c", &["POINTERS"], &["-n", "1000", "-r", "300"]),
    pattern("blocks-vectors", "patterns/blocks.c", &["VECTORS"], &["-n", "1000", "-r", "300"]),
    pattern("blocks-formula", "patterns/blocks.c", &["FORMULA"], &["-r", "500"]),
    pattern("blocks-butterfly", "patterns/blocks.c", &["BUTTERFLY"], &["-n", "1000", "-r", "500"]),
    pattern("calls-accessors", "patterns/calls.c", &["ACCESSORS"], &["-n", "20000", "-r", "500"]),
    pattern("calls-recursion", "patterns/calls.c", &["RECURSION"], &["-n", "20000", "-r", "20"]),
    pattern("calls-callback", "patterns/calls.c", &["CALLBACK"], &["-n", "20000", "-r", "20"]),
    pattern("calls-interpreter", "patterns/calls.c", &["INTERPRETER"], &["-n", "20000", "-r", "50"]),
    pattern("exchange-queue", "patterns/exchange.c", &["QUEUE"], &["-r", "200"]),
    pattern("exchange-bins", "patterns/exchange.c", &["BINS"], &["-r", "500"]),
    pattern("exchange-atomics", "patterns/exchange.c", &["ATOMICS"], &["-n", "20000", "-r", "500"]),
    pattern("exchange-false-sharing", "patterns/exchange.c", &["FALSE_SHARING"], &["-n", "20000", "-r", "500"]),
    pattern("exchange-short", "patterns/exchange.c", &["SHORT"], &["-r", "5000"]),
    pattern("containers-vector", "patterns/containers.cpp", &["VECTOR"], &["-n", "20000", "-r", "200"]),
    pattern("containers-nested", "patterns/containers.cpp", &["NESTED"], &["-n", "20000", "-r", "100"]),
    pattern("containers-map", "patterns/containers.cpp", &["MAP"], &[]),
    pattern("containers-unordered", "patterns/containers.cpp", &["UNORDERED"], &[]),
    pattern("containers-strings", "patterns/containers.cpp", &["STRINGS"], &["-r", "100"]),
    pattern("containers-virtual", "patterns/containers.cpp", &["VIRTUAL"], &["-r", "1000"]),
    pattern("containers-sort", "patterns/containers.cpp", &["SORT"], &["-n", "20000", "-r", "20"]),
    // The same with what the thread has written itself.
    pattern("structures-point-own", "patterns/structures.c", &["POINT", "OWN"], &["-r", "1000"]),
    pattern("structures-particle-own", "patterns/structures.c", &["PARTICLE", "OWN"], &["-r", "1000"]),
    pattern("structures-condition-own", "patterns/structures.c", &["CONDITION", "OWN"], &["-r", "1000"]),
    pattern("structures-pixel-own", "patterns/structures.c", &["PIXEL", "OWN"], &["-r", "1000"]),
    pattern("text-words-own", "patterns/text.c", &["WORDS", "OWN"], &["-n", "100000", "-r", "100"]),
    pattern("text-blocks-own", "patterns/text.c", &["BLOCKS", "OWN"], &["-n", "65536", "-r", "100"]),
    pattern("blocks-five-own", "patterns/blocks.c", &["FIVE", "OWN"], &["-n", "1000", "-r", "500"]),
    pattern("blocks-pointers-own", "patterns/blocks.c", &["POINTERS", "OWN"], &["-n", "1000", "-r", "300"]),
    pattern("calls-accessors-own", "patterns/calls.c", &["ACCESSORS", "OWN"], &["-n", "20000", "-r", "500"]),
    pattern("calls-recursion-own", "patterns/calls.c", &["RECURSION", "OWN"], &["-n", "20000", "-r", "20"]),
    pattern("calls-interpreter-own", "patterns/calls.c", &["INTERPRETER", "OWN"], &["-n", "20000", "-r", "50"]),
    pattern("containers-nested-own", "patterns/containers.cpp", &["NESTED", "OWN"], &["-n", "20000", "-r", "100"]),
    pattern("containers-map-own", "patterns/containers.cpp", &["MAP", "OWN"], &[]),
    pattern("containers-unordered-own", "patterns/containers.cpp", &["UNORDERED", "OWN"], &[]),
    pattern("containers-strings-own", "patterns/containers.cpp", &["STRINGS", "OWN"], &["-r", "100"]),
    pattern("containers-virtual-own", "patterns/containers.cpp", &["VIRTUAL", "OWN"], &["-r", "1000"]),
    pattern("containers-sort-own", "patterns/containers.cpp", &["SORT", "OWN"], &["-n", "20000", "-r", "20"]),
];
