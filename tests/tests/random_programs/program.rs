//! A random C program: functions, and threads that call them one after the other, or all at once where they only read.

use crate::function::{Author, Leaf, MOST, Signature};
use crate::memory::{CONTEXTS, HOME, HOMES, Kind, declarations};
use crate::one_of;
use fastrand::Rng;
use std::fmt::Write;

/// A program and how it is to be compiled.
pub struct Program {
    pub text: String,
    /// The level and what is more, separated by spaces.
    pub flags: String,
}

impl Program {
    /// The one of a number: always the same one.
    pub fn random(seed: u64) -> Program {
        let random = &mut Rng::with_seed(seed);
        let level = one_of(random, &["-O1", "-O2", "-O2", "-O3", "-O3", "-Os"]);
        // Tuned so, AVX2 gathers.
        let masked = "-mavx2 -mtune=skylake";
        let more =
            one_of(random, &["", "", "-mavx2", masked, "-fno-strict-aliasing", "-fno-vectorize", "-fno-unroll-loops"]);
        let flags =
            format!("{level} {more} -pthread -w -ffp-contract=off").split_whitespace().collect::<Vec<_>>().join(" ");
        let mut text = "#include \"team.h\"\n#include <string.h>\n".to_owned() + &declarations();
        let mut leaves: Vec<Leaf> = Vec::new();
        for number in 0..random.usize(1..4) {
            let (leaf, code) = Author::write_leaf(random, &format!("leaf{number}"));
            text += "\n";
            text += &code;
            leaves.push(leaf);
        }
        let mut functions: Vec<(String, Signature)> = Vec::new();
        for number in 0..random.usize(4..10) {
            let name = format!("f{number}");
            let (signature, code) = Author::write(random, &name, &leaves);
            text += "\n";
            text += &code;
            functions.push((name, signature));
        }
        let workers = one_of(random, &[2, 2, 2, 3, 4, 18]);
        schedule(random, &mut text, &functions, workers);
        Program { text, flags }
    }
}

/// The calls, who makes them, and `main`.
fn schedule(random: &mut Rng, text: &mut String, functions: &[(String, Signature)], workers: usize) {
    let mut add = |line: String| writeln!(text, "{line}").unwrap_or_else(|_| unreachable!("a string takes all"));
    add("\nstatic NOINLINE long call(int number) {\n    switch (number) {".to_owned());
    let mut calls = Vec::new();
    for number in 0..functions.len() + random.usize(0..5) {
        let Some((name, signature)) = functions.get(number % functions.len()) else { continue };
        let home = random.i64(0..HOMES);
        let pointers: Vec<String> = signature.pointers.iter().map(|kind| pointer(random, *kind, home)).collect();
        let number_in = |random: &mut Rng| {
            let with_numbers =
                signature.pointers.iter().zip(&pointers).find(|(kind, _)| matches!(kind, Kind::Int | Kind::Mixed));
            let (kind, pointer) = with_numbers?;
            let member = if *kind == Kind::Mixed { ".n" } else { "" };
            Some(format!("&({pointer})[{}]{member}", random.i64(0..100)))
        };
        let context = if random.u8(0..4) == 0 { random.i64(0..CONTEXTS) } else { home % CONTEXTS };
        let bound = match random.u8(0..6) {
            0 => format!("&contexts[{context}].n"),
            1 => format!("&contexts[{}].m", random.i64(0..CONTEXTS)),
            _ => number_in(random)
                .unwrap_or_else(|| format!("{} + {}", pointer(random, Kind::Int, home), random.i64(0..80))),
        };
        // Of few rounds each event of a loop may be listed.
        let (any, few) = (random.i64(0..MOST.0), random.i64(32..70));
        let n = one_of(random, &[any, few, few, MOST.0 - 1]);
        let m = random.i64(0..MOST.1);
        let arguments = pointers.join(", ");
        add(format!(
            "    case {number}:\n        return {name}({arguments}, &contexts[{context}], {bound}, {n}, {m});"
        ));
        let usual = if random.u8(0..3) == 0 { None } else { Some(home as usize % workers + 1) };
        calls.push((usual, signature.reads));
    }
    add("    }\n    return 0;\n}\n".to_owned());
    // Runs of the same call, most by the same thread: what is known of memory serves the next one.
    let (mut steps, mut number) = (Vec::new(), 0);
    for _ in 0..random.usize(100..300) {
        number = if random.u8(0..3) == 0 { random.usize(0..calls.len()) } else { number };
        let (usual, reads) = calls.get(number).copied().unwrap_or((None, false));
        let owner = usual.filter(|_| random.u8(0..6) != 0).unwrap_or_else(|| random.usize(1..=workers));
        steps.push((if reads && random.bool() { 0 } else { owner }, number));
    }
    let list =
        |of: fn(&(usize, usize)) -> usize| steps.iter().map(|s| of(s).to_string()).collect::<Vec<_>>().join(", ");
    add(format!("enum {{ WORKERS = {workers}, STEPS = {} }};", steps.len()));
    add(format!("static const int owner[STEPS] = {{{}}};", list(|step| step.0)));
    add(format!("static const int number[STEPS] = {{{}}};", list(|step| step.1)));
    let filler = random.usize(0..=workers);
    add(format!("enum {{ FILLER = {filler} }};"));
    add(MAIN.to_owned());
}

/// Near the others of its home, so that they overlap more often than not.
fn pointer(random: &mut Rng, kind: Kind, home: i64) -> String {
    let home = if random.u8(0..8) == 0 { random.i64(0..HOMES) } else { home };
    let offset = one_of(random, &[0, 0, 1, 2, 3, 8, 40, 64, 129, 300]);
    format!("{} + {}", kind.pool(), home * HOME + offset)
}

const MAIN: &str = r#"static long results[WORKERS + 1][64];
static pthread_barrier_t barrier;

static void *work(void *argument) {
    int me = (int)(intptr_t)argument;
    if (me == FILLER)
        fill();
    for (int step = 0; step < STEPS; step++) {
        pthread_barrier_wait(&barrier);
        if (owner[step] == me || owner[step] == 0)
            results[me][0] += call(number[step]);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, WORKERS);
    if (FILLER == 0)
        fill();
    team(WORKERS, work);
    unsigned long sum = checksum();
    for (int i = 1; i <= WORKERS; i++)
        sum += (unsigned long)results[i][0] * (unsigned long)i;
    printf("%lx\n", sum);
    return 0;
}"#;
