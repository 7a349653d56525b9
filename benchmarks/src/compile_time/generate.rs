use std::fmt::Write;

/// Accesses of one generated step: two elements read; one of two updated.
const PER_STEP: u32 = 4;
/// Steps of one loop.
const STEPS: u32 = 8;

/// A C file with one function that has at least `accesses` loads and stores: loops with branches over two arrays.
///
/// What the branches compare is floating point, and each loop begins with values of its own, because some of clang's
/// optimisations take time that is quadratic in the number of integer comparisons that dominate each other. Indices
/// differ, so that no two accesses are the same; strides keep loops from being vectorised.
pub fn source(accesses: u32) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Compilers;
    use crate::process;
    use std::process::Command;
    use std::time::Duration;

    /// What clang itself sees in the function, without optimisation.
    #[test]
    fn there_are_as_many_accesses_as_were_asked_for() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("generated.c");
        std::fs::write(&file, source(1000)).unwrap();
        let mut command = Command::new(Compilers::find().clang());
        command.args(["-O1", "-S", "-emit-llvm", "-o", "-"]).arg(&file);
        let text = process::run(command, scratch.path(), Duration::from_secs(60)).unwrap().stdout;
        let accesses = text.lines().filter(|line| line.contains(" load ") || line.contains(" store ")).count();
        assert!((900..2000).contains(&accesses), "{accesses}");
        assert_eq!(text.lines().filter(|line| line.starts_with("define")).count(), 1);
    }
}
