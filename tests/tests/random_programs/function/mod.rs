//! A random C function: loops over memory that its pointers share.

mod loops;
mod statements;
mod sums;

use crate::index::Counter;
use crate::memory::Kind;
use crate::one_of;
use fastrand::Rng;

/// What a function is called with, in this order; pointers to elements are named `p0`, `p1`, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What its pointers lead to.
    pub pointers: Vec<Kind>,
    /// Whether it only reads what threads share, so that all may run it at once.
    pub reads: bool,
}

/// `n` and `m` are below these.
pub const MOST: (i64, i64) = (200, 24);

/// A small function, which others call.
pub struct Leaf {
    name: String,
    pointer: Kind,
    reads: bool,
}

/// Writes one function.
pub struct Author<'a> {
    random: &'a mut Rng,
    text: String,
    depth: usize,
    signature: Signature,
    leaves: &'a [Leaf],
    counters: Vec<Counter>,
    /// Local arrays that may be read, and their lengths.
    locals: Vec<(String, i64)>,
    names: usize,
    statements: usize,
    style: Style,
}

/// What a loop of a function looks like. Most loops of programs are plain, and whole loops are counted as such only if
/// nothing of the rest is in them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Stores and sums of elements in rows, one or two to a loop.
    Orderly,
    /// The same through pointers and bounds that lie in memory, and may be written there.
    Indirect,
    /// Products of elements, summed in a variable of the nest's own.
    Sums,
    /// Stores and sums of elements.
    Plain,
    /// Also what is behind the context, blocks, conditions, calls.
    Mixed,
    /// Anything as often as anything else.
    Wild,
}

impl<'a> Author<'a> {
    /// A function `name` that may call some leaves.
    pub fn write(random: &'a mut Rng, name: &str, leaves: &'a [Leaf]) -> (Signature, String) {
        let kinds = [Kind::random(random), Kind::random(random), Kind::Int];
        let some = random.usize(1..=3);
        let pointers = (0..random.usize(2..=4)).map(|_| kinds[random.usize(0..some)]).collect();
        let signature = Signature { pointers, reads: random.u8(0..4) == 0 };
        let mut author = Author::new(random, signature, leaves);
        let restricted = author.random.u8(0..6) == 0 && author.signature.reads;
        author.line(&format!("static NOINLINE long {name}({}) {{", author.signature.parameters(restricted)));
        author.depth = 1;
        author.line("double s = 0;");
        author.line("long z = 0;");
        for _ in 0..author.random.usize(1..=3) {
            author.outer_loop();
        }
        author.line("return z + (long)s;");
        author.text += "}\n";
        (author.signature, author.text)
    }

    /// A small function of one pointer, for loops to call.
    pub fn write_leaf(random: &mut Rng, name: &str) -> (Leaf, String) {
        let leaf = Leaf { name: name.to_owned(), pointer: Kind::random(random), reads: random.bool() };
        let signature = Signature { pointers: vec![leaf.pointer], reads: leaf.reads };
        let mut author = Author::new(random, signature, &[]);
        let kind = one_of(author.random, &["NOINLINE ", "", "inline __attribute__((always_inline)) "]);
        author.line(&format!("static {kind}long {name}({}) {{", author.signature.parameters(false)));
        author.depth = 1;
        author.line("double s = 0;");
        author.line("long z = n & 3;");
        match author.random.u8(0..3) {
            0 => author.counted("4", 4),
            1 => author.counted("n & 7", 8),
            _ => (0..author.random.usize(1..3)).for_each(|_| author.simple()),
        }
        author.line("return z + (long)s;");
        author.text += "}\n";
        (leaf, author.text)
    }

    fn new(random: &'a mut Rng, signature: Signature, leaves: &'a [Leaf]) -> Self {
        Author {
            random,
            text: String::new(),
            depth: 0,
            signature,
            leaves,
            counters: Vec::new(),
            locals: Vec::new(),
            names: 0,
            statements: 0,
            style: Style::Wild,
        }
    }

    fn line(&mut self, code: &str) {
        self.text += &format!("{:1$}{code}\n", "", 4 * self.depth);
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn is_plain(&self) -> bool {
        matches!(self.style, Style::Plain | Style::Orderly | Style::Indirect | Style::Sums)
    }

    fn is_orderly(&self) -> bool {
        matches!(self.style, Style::Orderly | Style::Indirect | Style::Sums)
    }

    fn rounds(&self) -> i64 {
        self.counters.iter().map(|c| c.rounds).product()
    }

    fn outer_loop(&mut self) {
        self.statements = 0;
        self.style = one_of(
            self.random,
            &[
                Style::Orderly,
                Style::Orderly,
                Style::Orderly,
                Style::Indirect,
                Style::Indirect,
                Style::Sums,
                Style::Sums,
                Style::Plain,
                Style::Mixed,
                Style::Wild,
            ],
        );
        match self.style {
            Style::Sums => self.sums(),
            _ => self.any_loop(),
        }
    }
}

impl Signature {
    fn parameters(&self, restricted: bool) -> String {
        let restrict = if restricted { "restrict " } else { "" };
        let pointers = self.pointers.iter().enumerate().map(|(i, kind)| format!("{} *{restrict}p{i}", kind.c_type()));
        let rest = ["struct context *c", "int *bound", "long n", "long m"].map(str::to_owned);
        pointers.chain(rest).collect::<Vec<_>>().join(", ")
    }
}
