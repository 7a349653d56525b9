use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

use super::Shape;
use crate::arguments::{list, number, text, usage};
use crate::{Error, Result};

/// What `--help` prints.
pub const USAGE: &str = "\
Usage: compile-time [OPTIONS] [-- FLAGS]
Compiles generated functions, or files of yours, natively, with ThreadSanitizer and with threadtalk; prints CPU time, peak
memory and the size of the code. FLAGS are added to -O2 -g.

  --accesses A,B     sizes of the generated functions (default 2000,20000,200000; none with --source)
  --shapes A,B       what they look like: loops, statements, aliasing, blocks, table (default all)
  --source A,B       compile these C and C++ files
  --runs N           rounds; the least time of each tool counts (default 1)
  --timeout SECONDS  kill a compiler that takes longer (default 120); the table says so, for larger functions of the
                     same shape, too, which are not tried
  --json FILE        write the table here, too
";

/// What to compile.
#[derive(Clone, Debug)]
pub struct Options {
    /// Numbers of accesses of the generated functions.
    pub accesses: Vec<u32>,
    /// What they look like.
    pub shapes: Vec<Shape>,
    /// Given files.
    pub sources: Vec<PathBuf>,
    /// Rounds.
    pub runs: u32,
    /// Longest time of one compiler.
    pub timeout: Duration,
    /// Where to write JSON.
    pub json: Option<PathBuf>,
    /// Further flags of the compilers.
    pub flags: Vec<OsString>,
}

/// Reads the arguments after the program's name; `None` if help was asked for.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>> {
    let (mut accesses, mut sources, mut flags) = (None, Vec::new(), Vec::new());
    let mut shapes = Shape::ALL.to_vec();
    let (mut runs, mut timeout, mut json) = (1, 120, None);
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("accesses") => {
                accesses = Some(list(&text(&mut parser)?, |text| number(text, "--accesses", 10_000_000))?);
            }
            Long("shapes") => shapes = list(&text(&mut parser)?, shape)?,
            Long("source") => sources = list(&text(&mut parser)?, |file| Ok(PathBuf::from(file)))?,
            Long("runs") => runs = number(&text(&mut parser)?, "--runs", 1000)?,
            Long("timeout") => timeout = number(&text(&mut parser)?, "--timeout", 86400)?,
            Long("json") => json = Some(text(&mut parser)?.into()),
            // What stands behind `--`.
            Value(flag) => flags.push(flag),
            other => return Err(usage(other.unexpected())),
        }
    }
    if let Some(file) = sources.iter().find(|file| !file.is_file()) {
        return Err(Error::Usage(format!("--source {}: there is no such file", file.display())));
    }
    let default = if sources.is_empty() { vec![2_000, 20_000, 200_000] } else { Vec::new() };
    let timeout = Duration::from_secs(timeout.into());
    Ok(Some(Options { accesses: accesses.unwrap_or(default), shapes, sources, runs, timeout, json, flags }))
}

fn shape(name: &str) -> Result<Shape> {
    let unknown = || {
        let known: Vec<_> = Shape::ALL.into_iter().map(Shape::name).collect();
        Error::Usage(format!("--shapes {name}: there are {}", known.join(", ")))
    };
    Shape::named(name).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Option<Options>> {
        parse(words.iter().map(|word| OsString::from(*word)))
    }

    #[test]
    fn flags_stand_behind_two_dashes() {
        let options = parsed(&["--accesses=10,20", "--runs", "3", "--", "-fopenmp", "-DX"]).unwrap().unwrap();
        assert_eq!((options.accesses, options.runs), (vec![10, 20], 3));
        assert_eq!(options.flags, ["-fopenmp", "-DX"]);
    }

    #[test]
    fn a_given_file_takes_the_place_of_the_generated_ones() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/lu.c");
        assert!(parsed(&["--source", file]).unwrap().unwrap().accesses.is_empty());
        assert_eq!(parsed(&["--source", file, "--accesses=5"]).unwrap().unwrap().accesses, [5]);
        assert_eq!(parsed(&[]).unwrap().unwrap().accesses, [2_000, 20_000, 200_000]);
        assert_eq!(parsed(&["--shapes=table,loops"]).unwrap().unwrap().shapes, [Shape::Table, Shape::Loops]);
    }

    #[test]
    fn mistakes_are_explained() {
        let message = |words: &[&str]| parsed(words).unwrap_err().to_string();
        assert_eq!(message(&["--accesses=0"]), "--accesses takes numbers from 1 to 10000000, not \"0\"; see --help");
        assert_eq!(message(&["--source", "/no.c"]), "--source /no.c: there is no such file; see --help");
        assert_eq!(
            message(&["--shapes", "tree"]),
            "--shapes tree: there are loops, statements, aliasing, blocks, table; see --help"
        );
        assert!(message(&["--quick"]).contains("--quick"));
    }
}
