//! Loops of many shapes.

use super::{Author, MOST, Style};
use crate::index::Counter;
use crate::memory::{INTS, Kind, ROWS};
use crate::one_of;

/// How often all loops of a nest may run at most, together.
const MOST_ROUNDS: i64 = 30_000;
/// Statements of a nest, at most, loops included.
const MOST_STATEMENTS: usize = 14;

impl Author<'_> {
    /// A loop of some shape that may run often enough, or a simple statement.
    pub(super) fn any_loop(&mut self) {
        let room = MOST_ROUNDS / self.rounds().max(1);
        let outer = self.counters.last().cloned();
        let constant = one_of(self.random, &[2, 3, 4, 8, 13, 16, 32, 33, 40, 64, 100, 200, 256]);
        let shapes = match self.style {
            Style::Indirect => 4..8,
            Style::Orderly | Style::Plain | Style::Sums => 0..10,
            Style::Mixed | Style::Wild => 0..14,
        };
        if MOST.0 <= room && self.random.u8(0..7) == 0 {
            return self.search();
        }
        match self.random.u8(shapes) {
            0 | 1 if constant <= room => self.counted(&constant.to_string(), constant),
            2..=4 if MOST.0 <= room => self.counted("n", MOST.0),
            5 if MOST.1 <= room => self.counted("m", MOST.1),
            6 if INTS <= room => self.counted("*bound", INTS),
            7 if INTS <= room => self.counted("c->n", INTS),
            8 => {
                let Some(outer) = outer.filter(|outer| outer.most <= room) else { return self.simple() };
                let more = if self.random.bool() { " + 1" } else { "" };
                self.counted(&format!("{}{more}", outer.name), outer.most + 1);
            }
            9 if 16 <= room => {
                let Some(outer) = outer.filter(|outer| outer.most <= INTS) else { return self.simple() };
                let name = self.name("v");
                let header = format!("for (long {name} = row[{0}]; {name} < row[{0} + 1]; {name}++) {{", outer.name);
                self.body(&header, "}", Counter { name, most: ROWS, rounds: 16, may_continue: true });
            }
            10 if MOST.0 <= room => self.pointer_walk(),
            11 if INTS <= room => {
                let name = self.name("v");
                let test = if self.random.bool() { "m" } else { "*bound" };
                self.line(&format!("long {name} = 0;"));
                let header = format!("while ({name} < {test}) {{");
                self.body(
                    &header,
                    &format!("    {name}++;\n}}"),
                    Counter { may_continue: false, ..Counter::plain(name.clone(), INTS) },
                );
            }
            12 if 24 <= room => self.links(),
            _ => self.simple(),
        }
    }

    /// A loop over `bound`, of which nobody need know what it is, less than `most`.
    pub(super) fn counted(&mut self, bound: &str, most: i64) {
        let name = self.name("v");
        let kind = one_of(self.random, &["long", "long", "long", "int", "int", "unsigned"]);
        let step = one_of(self.random, &[1, 1, 1, 1, 2, 3]);
        let counter = Counter::plain(name.clone(), most);
        match self.random.u8(0..8) {
            0 if kind != "unsigned" => {
                let header = format!("for ({kind} {name} = ({kind})({bound}) - 1; {name} >= 0; {name} -= {step}) {{");
                self.body(&header, "}", counter);
            }
            1 => {
                self.line(&format!("{kind} {name} = 0;"));
                let end = format!("}} while (({name} += {step}) < ({kind})({bound}));");
                self.body("do {", &end, Counter { most: most.max(1) + step, ..counter });
            }
            2 => {
                let header = format!("for ({kind} {name} = 1; {name} < ({kind})({bound}); {name} += {step}) {{");
                self.body(&header, "}", counter);
            }
            _ => {
                let header = format!("for ({kind} {name} = 0; {name} < ({kind})({bound}); {name} += {step}) {{");
                self.body(&header, "}", counter);
            }
        }
    }

    /// A loop that ends by what it finds, if that is there.
    fn search(&mut self) {
        let name = self.name("v");
        let (bound, most) = one_of(self.random, &[("n", MOST.0), ("n", MOST.0), ("*bound", INTS), ("160", 160)]);
        self.line(&format!("for (long {name} = 0; {name} < {bound}; {name}++) {{"));
        self.depth += 1;
        self.counters.push(Counter::plain(name, most));
        let locals = self.locals.len();
        let statements = self.random.usize(0..3);
        let found = self.random.usize(0..=statements);
        for number in 0..=statements {
            if number == found {
                self.leave();
            }
            if number < statements {
                self.simple();
            }
        }
        self.locals.truncate(locals);
        self.counters.pop();
        self.depth -= 1;
        self.line("}");
    }

    /// A loop whose variable is a pointer.
    fn pointer_walk(&mut self) {
        let pointer = self.random.usize(0..self.signature.pointers.len());
        let kind = self.signature.pointers[pointer];
        let (name, count) = (self.name("w"), self.name("v"));
        let place = self.place();
        let length = one_of(self.random, &["n", "m", "16", "*bound"]);
        self.line(&format!("{} *{name} = p{pointer} + ({place});", kind.c_type()));
        self.line(&format!("long {count} = 0;"));
        let header = format!("for ({0} *e = {name} + {length}; {name} < e; {name}++) {{", kind.c_type());
        let (member, number) = kind.number(self.random);
        let term = format!("{name}->{}", member.trim_start_matches('.'));
        let element = if kind.is_structure() { term } else { format!("*{name}") };
        let before = if self.signature.reads || self.random.bool() {
            format!("s += {element};")
        } else {
            let terms = [element.clone(), self.term()];
            format!("{element} = {};", number.made_of(&terms))
        };
        let counter = Counter::plain(count.clone(), MOST.0);
        self.body(&format!("{header}\n{:1$}{before}", "", 4 * self.depth + 4), &format!("    {count}++;\n}}"), counter);
    }

    /// A list: each element says where the next one is.
    fn links(&mut self) {
        let Some(links) = self.pointer_of(Kind::Int) else { return self.simple() };
        let (at, name) = (self.name("at"), self.name("v"));
        self.line(&format!("long {at} = m;"));
        let header = format!("for (long {name} = 0; {name} < 24 && {at} != 5; {name}++, {at} = {links}[{at}]) {{");
        self.line(&header);
        self.depth += 1;
        self.counters.push(Counter::plain(name, 24));
        self.counters.push(Counter { name: at, most: INTS, rounds: 1, may_continue: true });
        let locals = self.locals.len();
        self.simple();
        self.simple();
        self.locals.truncate(locals);
        self.counters.truncate(self.counters.len() - 2);
        self.depth -= 1;
        self.line("}");
    }

    /// A loop around some statements.
    fn body(&mut self, header: &str, end: &str, counter: Counter) {
        self.line(header);
        self.depth += 1;
        self.counters.push(counter);
        let locals = self.locals.len();
        let statements = self.random.usize(1..=if self.is_orderly() { 2 } else { 3 });
        // Half of the loops are nests; of the inner ones fewer are.
        let deeper = if self.counters.len() == 1 { 3 } else { 1 };
        for _ in 0..statements {
            self.statements += 1;
            if self.statements < MOST_STATEMENTS && self.random.u8(0..5) < deeper && self.counters.len() < 4 {
                self.any_loop();
            } else {
                self.simple();
            }
        }
        self.locals.truncate(locals);
        self.counters.pop();
        self.depth -= 1;
        for line in end.lines() {
            self.line(line);
        }
    }
}
