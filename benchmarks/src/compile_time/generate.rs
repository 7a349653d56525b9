use std::fmt::Write;

/// What generated code looks like where people generate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Loops with branches over two arrays.
    Loops,
    /// A right-hand side of differential equations, unrolled: one block of arithmetic statements.
    Statements,
    /// The same through pointers that may lead to one array: nothing is moved past a store.
    Aliasing,
    /// Decisions: a test of one element and a store, each in blocks of their own.
    Blocks,
    /// The initialisation of a table of structures through a pointer.
    Table,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 5] = [Shape::Loops, Shape::Statements, Shape::Aliasing, Shape::Blocks, Shape::Table];

    /// As in tables and in `--shapes`.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Loops => "loops",
            Shape::Statements => "statements",
            Shape::Aliasing => "aliasing",
            Shape::Blocks => "blocks",
            Shape::Table => "table",
        }
    }

    /// The shape of this name.
    pub fn named(name: &str) -> Option<Shape> {
        Shape::ALL.into_iter().find(|shape| shape.name() == name)
    }
}

/// A C file with one function of that shape that has at least `accesses` loads and stores.
pub fn source(shape: Shape, accesses: u32) -> String {
    match shape {
        Shape::Loops => loops(accesses),
        Shape::Statements => statements(accesses, "restrict "),
        Shape::Aliasing => statements(accesses, ""),
        Shape::Blocks => blocks(accesses),
        Shape::Table => table(accesses),
    }
}

/// Accesses of one generated step: two elements read; one of two updated.
const PER_STEP: u32 = 4;
/// Steps of one loop.
const STEPS: u32 = 8;

/// Loops with branches over two arrays.
///
/// What the branches compare is floating point, and each loop begins with values of its own, because some of clang's
/// optimisations take time that is quadratic in the number of integer comparisons that dominate each other. Indices
/// differ, so that no two accesses are the same; strides keep loops from being vectorised.
fn loops(accesses: u32) -> String {
    let mut text = String::from("void work(double *a, const double *b, const long *p, long n, double least)\n{\n");
    for number in 0..accesses.div_ceil(PER_STEP * STEPS) {
        let stride = 2 + number % 7;
        let write = writeln!(text, "    for (long i = 0; i < n; i += {stride}) {{");
        debug_assert!(write.is_ok(), "a string takes everything");
        for step in 0..STEPS {
            let [from, to, other] = [3, 5, 11].map(|factor| (number * STEPS + step) * factor % 1021);
            text.push_str(&format!(
                "        if (b[i + {from}] > least)\n            a[p[i + {to}]] += {}.5;\n        else\n            \
                 a[i + {other}] = {};\n",
                number % 100,
                step + 1,
            ));
        }
        text.push_str("    }\n");
    }
    text.push_str("}\n");
    text
}

/// Each reads a coefficient and two elements of the vector, of which each is read from memory once if the pointers are
/// `restrict`, and writes one.
fn statements(accesses: u32, restrict: &str) -> String {
    let n = accesses.div_ceil(if restrict.is_empty() { 4 } else { 3 });
    let mut text =
        format!("void work(double *{restrict}d, const double *{restrict}y, const double *{restrict}k)\n{{\n");
    for i in 0..n {
        text.push_str(&format!("    d[{i}] = k[{i}] * y[{}] - y[{}];\n", i * 7 % n, i * 13 % n));
    }
    text.push_str("}\n");
    text
}

/// One element read, one of another array written.
fn blocks(accesses: u32) -> String {
    let mut text = String::from("void work(int *out, const int *in, int value)\n{\n");
    for i in 0..accesses.div_ceil(2) {
        text.push_str(&format!("    if (in[{i}] > {})\n        out[{}] = value;\n", i % 97, i * 3 % accesses));
    }
    text.push_str("}\n");
    text
}

/// Four fields written for each element.
fn table(accesses: u32) -> String {
    let mut text = String::from(
        "struct entry { long key; int kind; const char *name; double value; };\nvoid work(struct entry *t)\n{\n",
    );
    for i in 0..accesses.div_ceil(4) {
        text.push_str(&format!(
            "    t[{i}].key = {}; t[{i}].kind = {}; t[{i}].name = \"n{}\"; t[{i}].value = {i}.5;\n",
            i * 31 % 977,
            i % 13,
            i % 50
        ));
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Compilers;
    use crate::process;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn shapes_have_names() {
        assert!(Shape::ALL.into_iter().all(|shape| Shape::named(shape.name()) == Some(shape)));
        assert_eq!(Shape::named("tree"), None);
    }

    /// What clang itself sees in the function, without optimisation.
    #[test]
    fn there_are_as_many_accesses_as_were_asked_for() {
        let scratch = tempfile::tempdir().unwrap();
        for shape in Shape::ALL {
            let file = scratch.path().join("generated.c");
            std::fs::write(&file, source(shape, 1000)).unwrap();
            let mut command = Command::new(Compilers::find().clang());
            command.args(["-O1", "-S", "-emit-llvm", "-o", "-"]).arg(&file);
            let text = process::run(command, scratch.path(), Duration::from_secs(60)).unwrap().stdout;
            let accesses = text.lines().filter(|line| line.contains(" load ") || line.contains(" store ")).count();
            assert!((900..2000).contains(&accesses), "{shape:?}: {accesses}");
            assert_eq!(text.lines().filter(|line| line.starts_with("define")).count(), 1);
        }
    }
}
