//! Statements, and the terms that they are made of.

use super::{Author, Leaf, Style};
use crate::index::Place;
use crate::memory::Kind;
use crate::one_of;

impl Author<'_> {
    /// A statement without a loop, or with one that has only one statement.
    pub(super) fn simple(&mut self) {
        let most = match self.style {
            Style::Wild => 24,
            Style::Mixed if self.random.u8(0..4) == 0 => 24,
            _ => 13,
        };
        match self.random.u8(0..most) {
            0..=7 => self.store(),
            8..=11 => self.reduce(),
            12 | 13 if !self.is_plain() || self.random.u8(0..3) == 0 => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) {{"));
                let locals = self.locals.len();
                self.depth += 1;
                self.simple();
                self.depth -= 1;
                self.locals.truncate(locals);
                if self.random.u8(0..3) == 0 {
                    self.line("} else {");
                    self.depth += 1;
                    self.store();
                    self.depth -= 1;
                }
                self.line("}");
            }
            14 if !self.counters.is_empty() => {
                let condition = self.condition();
                let may_continue = self.counters.last().is_some_and(|counter| counter.may_continue);
                let leave = match self.random.u8(0..4) {
                    0 if may_continue => "continue",
                    1 => "return z",
                    _ => "break",
                };
                self.line(&format!("if ({condition})"));
                self.line(&format!("    {leave};"));
            }
            15 => self.copy(),
            16 | 17 => self.call(),
            18 => self.local(),
            19 if !self.signature.reads => {
                let value = Kind::Int.made_of(&[self.term(), self.term()]);
                let target = one_of(self.random, &["*bound", "c->n", "c->m"]);
                self.line(&format!("{target} = {value};"));
            }
            20 if !self.signature.reads => {
                let value = self.term();
                self.line(&format!("c->total += (long)({value});"));
            }
            21 if !self.signature.reads => {
                let value = Kind::Double.made_of(&["c->weight".to_owned(), self.term()]);
                self.line(&format!("c->weight = {value};"));
            }
            22 if !self.signature.reads => {
                if let Some(pointer) = self.pointer_of(Kind::Double).filter(|_| self.random.u8(0..3) == 0) {
                    self.line(&format!("c->a = {pointer};"));
                } else {
                    let place = self.place();
                    let value = Kind::Double.made_of(&[self.term(), self.term()]);
                    self.line(&format!("c->a[{place}] = {value};"));
                }
            }
            _ => self.reduce(),
        }
    }

    fn store(&mut self) {
        if self.signature.reads {
            return self.reduce();
        }
        let (element, kind) = self.element();
        if kind.is_structure() && self.random.u8(0..3) == 0 {
            let (pointer, place) = (self.random.usize(0..self.signature.pointers.len()), self.place());
            if self.signature.pointers[pointer] == kind {
                return self.line(&format!("{element} = p{pointer}[{place}];"));
            }
        }
        self.store_number(&element, kind);
        // Another member at a line of its own.
        if kind.is_structure() && self.random.bool() {
            self.store_number(&element, kind);
        }
    }

    fn store_number(&mut self, element: &str, kind: Kind) {
        let (member, number) = kind.number(self.random);
        let target = format!("{element}{member}");
        let mut terms: Vec<String> =
            (0..self.random.usize(1..=if self.is_orderly() { 2 } else { 3 })).map(|_| self.term()).collect();
        if self.random.u8(0..3) == 0 {
            terms.insert(0, target.clone());
        }
        self.line(&format!("{target} = {};", number.made_of(&terms)));
    }

    fn reduce(&mut self) {
        let term = self.term();
        match self.random.u8(if self.style == Style::Indirect { 0..8 } else { 4..8 }) {
            0..4 => self.line(&format!("z = (long)({term});")),
            4 => self.line(&format!("z += (long)({term});")),
            5 => self.line(&format!("z ^= (long)({term}) << 2;")),
            6 => self.line(&format!("s = s > {term} ? s : (double)({term});")),
            _ => self.line(&format!("s += {term};")),
        }
    }

    fn condition(&mut self) -> String {
        let (element, kind) = self.element();
        let (member, number) = kind.number(self.random);
        let landmark = number.landmark(self.random);
        let comparison = one_of(self.random, &["==", ">", "<", "!="]);
        match self.counters.last().map(|c| c.name.clone()).filter(|_| self.random.u8(0..3) == 0) {
            Some(counter) => format!("{counter} & {}", self.random.u8(1..4)),
            None => format!("{element}{member} {comparison} {landmark}"),
        }
    }

    /// The way out of a loop where some element is found.
    pub(super) fn leave(&mut self) {
        let (element, kind) = self.element();
        let (member, number) = kind.number(self.random);
        let (one, other) = (number.landmark(self.random), number.landmark(self.random));
        let found = format!("{element}{member}");
        let condition = match self.random.u8(0..3) {
            0 => format!("{found} == {one} || {found} == {other}"),
            _ => format!("{found} == {one}"),
        };
        let leave = one_of(self.random, &["break", "break", "return z"]);
        self.line(&format!("if ({condition})"));
        self.line(&format!("    {leave};"));
    }

    /// A block of a length that the compiler knows, or of one that it does not know.
    fn copy(&mut self) {
        let pointers: Vec<usize> = (0..self.signature.pointers.len()).collect();
        let to = one_of(self.random, &pointers);
        let kind = self.signature.pointers[to];
        if self.signature.reads {
            return self.reduce();
        }
        let (place, length) = (self.place(), one_of(self.random, &["2", "8", "m", "21"]));
        let size = format!("(size_t)({length}) * sizeof(*p{to})");
        if kind == Kind::Byte && self.random.bool() {
            let value = self.random.u8(..);
            return self.line(&format!("memset(p{to} + ({place}), {value}, {size});"));
        }
        let same: Vec<usize> = pointers.into_iter().filter(|p| self.signature.pointers[*p] == kind).collect();
        let from = one_of(self.random, &same);
        let other = self.place();
        self.line(&format!("memmove(p{to} + ({place}), p{from} + ({other}), {size});"));
    }

    fn call(&mut self) {
        let usable =
            |leaf: &&Leaf| (leaf.reads || !self.signature.reads) && self.signature.pointers.contains(&leaf.pointer);
        let leaves: Vec<&Leaf> = self.leaves.iter().filter(usable).collect();
        let Some(leaf) = self.random.choice(leaves.iter()) else { return self.reduce() };
        let (pointer, name, place) = (self.pointer_of(leaf.pointer), leaf.name.clone(), self.place());
        let argument = self.counters.last().map_or("m".to_owned(), |c| c.name.clone());
        let pointer = pointer.unwrap_or_default();
        self.line(&format!("z += {name}({pointer} + ({place}), c, bound, {argument}, m);"));
    }

    /// An array on the stack, filled, and from then on among the terms.
    fn local(&mut self) {
        let (name, k, length) = (self.name("t"), self.name("k"), one_of(self.random, &[4, 8, 20]));
        let term = self.term();
        self.line(&format!("double {name}[{length}];"));
        self.line(&format!("for (int {k} = 0; {k} < {length}; {k}++)"));
        self.line(&format!("    {name}[{k}] = {} + {k};", Kind::Double.made_of(&[term])));
        if self.random.bool() {
            self.line(&format!("USE({name});"));
        }
        self.locals.push((name, length));
        self.reduce();
    }

    /// A number of some type, from -1024 to 1024.
    pub(super) fn term(&mut self) -> String {
        let any = match self.style {
            Style::Wild => true,
            Style::Mixed => self.random.bool(),
            Style::Plain | Style::Orderly | Style::Indirect | Style::Sums => false,
        };
        if self.style == Style::Indirect && self.random.u8(0..4) == 0 {
            // What the last round has read, and numbers that it may have written.
            return one_of(self.random, &["(z & 63)", "(z & 63)", "*bound", "c->n", "c->weight"]).to_owned();
        }
        match if any { self.random.u8(0..16) } else { 16 } {
            0 if !self.counters.is_empty() => {
                let counter = self.random.usize(0..self.counters.len());
                format!("({} & 31)", self.counters[counter].name)
            }
            1 => self.random.u8(0..100).to_string(),
            2 => {
                let place = self.place();
                let member = one_of(self.random, &[("a", ""), ("b", ""), ("u", ""), ("t", ".y")]);
                format!("c->{}[{place}]{}", member.0, member.1)
            }
            3 => one_of(self.random, &["c->weight", "c->m", "(c->total & 255)", "*bound"]).to_owned(),
            4 | 5 if !self.locals.is_empty() => {
                let local = self.random.usize(0..self.locals.len());
                let (name, length) = self.locals[local].clone();
                let counter = self.counters.last().map_or("m".to_owned(), |c| c.name.clone());
                format!("{name}[({counter}) % {length}]")
            }
            6 => {
                let (element, kind) = self.element();
                let (member, number) = kind.number(self.random);
                format!("*(volatile {} *)&{element}{member}", number.c_type())
            }
            _ => {
                let (element, kind) = self.element();
                format!("{element}{}", kind.number(self.random).0)
            }
        }
    }

    /// An element behind one of the pointers, in C, and its type.
    pub(super) fn element(&mut self) -> (String, Kind) {
        if self.style == Style::Indirect && self.random.bool() {
            let members =
                [("a", Kind::Double), ("b", Kind::Int), ("b", Kind::Int), ("u", Kind::Byte), ("t", Kind::Triple)];
            let (member, kind) = one_of(self.random, &members);
            return (format!("c->{member}[{}]", self.place()), kind);
        }
        let pointer = self.random.usize(0..self.signature.pointers.len());
        let gathers = self.random.u8(0..if self.is_orderly() { 30 } else { 6 }) == 0;
        let place = match self.pointer_of(Kind::Int).filter(|_| gathers) {
            Some(indices) => {
                let inner = self.place();
                format!("{}{indices}[{inner}]", one_of(self.random, &["", "4 * ", "3 + "]))
            }
            None => self.place(),
        };
        (format!("p{pointer}[{place}]"), self.signature.pointers[pointer])
    }

    pub(super) fn pointer_of(&mut self, kind: Kind) -> Option<String> {
        let all: Vec<usize> =
            (0..self.signature.pointers.len()).filter(|p| self.signature.pointers[*p] == kind).collect();
        self.random.choice(all.iter()).map(|pointer| format!("p{pointer}"))
    }

    pub(super) fn place(&mut self) -> String {
        Place::random(self.random, &self.counters, self.is_orderly()).to_string()
    }
}
