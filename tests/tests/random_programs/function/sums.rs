//! Nests that sum: products of matrices, filters, and what unrolling leaves over.
//!
//! Sums of floating-point numbers are not vectorised but unrolled, and the remainder begins where the unrolled loop
//! ended, which is known before the nest or not.

use super::{Author, MOST};
use crate::index::Counter;
use crate::memory::Kind;
use crate::one_of;

/// How often a pointer that no round puts back may go on.
const MOST_STEPS: i64 = 2000;

/// A pointer that goes through several loops.
struct Walker {
    name: String,
    start: String,
    kind: Kind,
}

impl Author<'_> {
    /// One or two loops around sums.
    pub(super) fn sums(&mut self) {
        let outer = one_of(self.random, &[("m", MOST.1), ("m", MOST.1), ("12", 12), ("5", 5)]);
        let middle = one_of(self.random, &[Some(("m", MOST.1)), Some(("17", 17)), None, None]);
        let inner = match middle {
            Some(_) => one_of(self.random, &[("m", MOST.1), ("m + 1", MOST.1 + 1), ("m - 1", MOST.1), ("13", 13)]),
            None => one_of(self.random, &[("n", MOST.0), ("n", MOST.0), ("m", MOST.1), ("n - 1", MOST.0), ("35", 35)]),
        };
        let walker = (self.random.u8(0..3) == 0).then(|| self.walker());
        let steps = outer.1 * middle.map_or(1, |(_, most)| most) * inner.1;
        let put_back = steps > MOST_STEPS || self.random.bool();
        self.open(outer);
        if let Some(middle) = middle {
            self.open(middle);
        }
        if let Some(Walker { name, start, .. }) = walker.as_ref().filter(|_| put_back) {
            self.line(&format!("{name} = {start};"));
        }
        for _ in 0..self.random.usize(1..=2) {
            self.perhaps(|author| author.sum(inner, walker.as_ref()));
        }
        if middle.is_some() {
            self.close();
            if self.random.u8(0..3) == 0 {
                self.perhaps(|author| author.sum(("m", MOST.1), None));
            }
        }
        self.close();
    }

    fn walker(&mut self) -> Walker {
        let pointer = self.random.usize(0..self.signature.pointers.len());
        let (name, kind) = (self.name("w"), self.signature.pointers[pointer]);
        let start = format!("p{pointer} + {}", self.random.u8(0..9));
        self.line(&format!("{} *{name} = {start};", kind.c_type()));
        Walker { name, start, kind }
    }

    /// A sum in a variable of its own, and what becomes of it.
    fn sum(&mut self, (bound, most): (&str, i64), walker: Option<&Walker>) {
        let (sum, name) = (self.name("sum"), self.name("v"));
        let kind = one_of(self.random, &["double", "double", "double", "float", "long"]);
        let start = one_of(self.random, &["0", "0", "0", "0", "1", "m & 3", "(n & 1 ? 2 : 0)"]);
        let step = one_of(self.random, &[1, 1, 1, 2]);
        self.line(&format!("{kind} {sum} = 0;"));
        self.counters.push(Counter::plain(name.clone(), most));
        match self.random.u8(0..5) {
            0 => {
                let (element, rest) = (self.element(), self.element());
                self.line(&format!("long {name} = {start};"));
                self.line(&format!("for (; {name} + 3 < {bound}; {name} += 4)"));
                let ahead: Vec<String> = (0..4).map(|k| self.ahead(&element, &name, k)).collect();
                self.line(&format!("    {sum} += {};", ahead.join(" + ")));
                self.line(&format!("for (; {name} < {bound}; {name}++)"));
                let term = self.ahead(&rest, &name, 0);
                self.line(&format!("    {sum} += {term};"));
            }
            1 => {
                let product = self.product();
                self.line(&format!("for (long {name} = {bound} - 1; {name} >= 0; {name} -= {step})"));
                self.line(&format!("    {sum} += {product};"));
            }
            _ => {
                let product = self.product();
                self.line(&format!("for (long {name} = {start}; {name} < {bound}; {name} += {step})"));
                match walker {
                    Some(Walker { name, kind, .. }) => {
                        let member = kind.number(self.random).0;
                        self.line(&format!("    {sum} += {product}, {sum} -= (*{name}++){member};"));
                    }
                    None => self.line(&format!("    {sum} += {product};")),
                }
            }
        }
        self.counters.pop();
        let value = format!("({sum} > -1000 && {sum} < 1000 ? (double){sum} : 7)");
        if self.signature.reads || self.random.u8(0..4) == 0 {
            return self.line(&format!("s += {value};"));
        }
        let (element, kind) = self.element();
        let (member, number) = kind.number(self.random);
        self.line(&format!("{element}{member} = {};", number.made_of(&[value])));
    }

    /// One term or two of them.
    fn product(&mut self) -> String {
        let (first, second) = (self.term(), self.term());
        if self.random.u8(0..3) == 0 { first } else { format!("{first} * {second}") }
    }

    /// The number in an element some places behind that of the counter.
    fn ahead(&mut self, (element, kind): &(String, Kind), counter: &str, places: i64) -> String {
        let later = if places == 0 { counter.to_owned() } else { format!("({counter} + {places})") };
        element.replace(counter, &later) + kind.number(self.random).0
    }

    /// Some code, always or only if something is so, which does not change in the nest or does.
    fn perhaps(&mut self, code: impl FnOnce(&mut Self)) {
        let changes = self.counters.last().map_or("m > 7".to_owned(), |counter| format!("{} < 5", counter.name));
        let conditions = [None, None, None, None, None, Some("n > 50"), Some("m & 1"), Some(changes.as_str())];
        let condition = one_of(self.random, &conditions);
        if let Some(condition) = condition {
            self.line(&format!("if ({condition}) {{"));
            self.depth += 1;
        }
        code(self);
        if condition.is_some() {
            self.depth -= 1;
            self.line("}");
        }
    }

    fn open(&mut self, (bound, most): (&str, i64)) {
        let name = self.name("v");
        self.line(&format!("for (long {name} = 0; {name} < {bound}; {name}++) {{"));
        self.depth += 1;
        self.counters.push(Counter::plain(name, most));
    }

    fn close(&mut self) {
        self.counters.pop();
        self.depth -= 1;
        self.line("}");
    }
}
