//! What a program expects, from its comments `// KEY: value`.

mod subject;

pub use subject::{Part, Selector, Subject};

use crate::formula::{Formula, Names};
use evalexpr::EvalexprError;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Everything that a program's comments say.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The source.
    pub source: PathBuf,
    /// Compiler options of each compilation, first the level: `O2`, `O3 -mavx2`.
    pub levels: Vec<String>,
    /// More compiler options, for all levels.
    pub flags: Vec<String>,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Value of `THREADTALK_OPTIONS`.
    pub options: String,
    /// How often it runs. More than one run must give the same matrices.
    pub runs: usize,
    /// `exit N` or `signal N`.
    pub ending: String,
    /// What the report says of the end: `normally`, `abnormally` or `exec`.
    pub ended: String,
    /// Why it is left out unless asked for, if it takes long.
    pub slow: Option<String>,
    /// Exact standard output, without the last line end.
    pub stdout: String,
    /// Number of threads in the report, the main thread included.
    pub threads: usize,
    /// Constants of the formulas.
    pub names: Names,
    /// What to compare.
    pub checks: Vec<Check>,
    /// Line numbers of the marks `/*@name*/`.
    pub marks: HashMap<String, u64>,
}

/// One `EXPECT` line.
#[derive(Clone, Debug)]
pub struct Check {
    /// As written, for messages.
    pub text: String,
    /// What is looked at.
    pub subject: Subject,
    /// How it compares.
    pub relation: Relation,
    /// With what.
    pub formula: Formula,
}

/// Comparison of a number of the report with a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the documentation
pub enum Relation {
    Equal,
    AtLeast,
    AtMost,
}

/// A comment that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ExpectationError {
    /// The file cannot be read.
    #[error("{}: {why}", program.display())]
    Read {
        /// The program.
        program: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// A line that this language does not have.
    #[error("{}:{line}: {why}", program.display())]
    Line {
        /// The program.
        program: PathBuf,
        /// Line number.
        line: usize,
        /// What is wrong with it.
        why: Mistake,
    },
    /// Nothing is expected: such a test cannot fail.
    #[error("{}: no THREADS or no EXPECT line", program.display())]
    Nothing {
        /// The program.
        program: PathBuf,
    },
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation
pub enum Mistake {
    #[error("unknown key {0}")]
    Key(String),
    #[error("`{0}` is no number")]
    Number(String),
    #[error("`{0}` has no =, >= or <=")]
    NoRelation(String),
    #[error("`{0}` is nothing that can be looked at: see programs/README.md")]
    Subject(String),
    #[error(transparent)]
    Formula(#[from] EvalexprError),
}

impl Expectation {
    /// Reads the comments of `source`.
    pub fn read(source: &Path) -> Result<Self, ExpectationError> {
        let text =
            std::fs::read_to_string(source).map_err(|e| ExpectationError::Read { program: source.into(), why: e })?;
        Self::parse(source, &text)
    }

    /// Reads the comments in `text`.
    pub fn parse(source: &Path, text: &str) -> Result<Self, ExpectationError> {
        let mut this = Self {
            source: source.to_path_buf(),
            levels: ["O0", "O2", "O3"].map(String::from).into(),
            flags: Vec::new(),
            args: Vec::new(),
            options: String::new(),
            runs: 2,
            ending: "exit 0".into(),
            ended: "normally".into(),
            slow: None,
            stdout: String::new(),
            threads: 0,
            names: Names::default(),
            checks: Vec::new(),
            marks: HashMap::new(),
        };
        for (number, line) in (1..).zip(text.lines()) {
            this.note_marks(line, number);
            let Some((key, value)) = line.strip_prefix("// ").and_then(|l| l.split_once(':')) else { continue };
            if key.is_empty() || !key.bytes().all(|b| b.is_ascii_uppercase()) {
                continue;
            }
            this.take(key, value.trim()).map_err(|why| ExpectationError::Line {
                program: source.into(),
                line: number,
                why,
            })?;
        }
        if this.threads == 0 || this.checks.is_empty() {
            return Err(ExpectationError::Nothing { program: source.into() });
        }
        Ok(this)
    }

    fn note_marks(&mut self, line: &str, number: usize) {
        for rest in line.split("/*@").skip(1) {
            if let Some((mark, _)) = rest.split_once("*/") {
                self.marks.insert(mark.to_owned(), number as u64);
            }
        }
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), Mistake> {
        let words = || value.split_whitespace().map(String::from).collect::<Vec<_>>();
        let number = || value.parse::<usize>().map_err(|_| Mistake::Number(value.to_owned()));
        match key {
            "LEVELS" => self.levels = value.split(',').map(|l| l.trim().to_owned()).collect(),
            "FLAGS" => self.flags = words(),
            "ARGS" => self.args = words(),
            "OPTIONS" => self.options = value.to_owned(),
            "RUNS" => self.runs = number()?,
            "ENDED" => self.ended = value.to_owned(),
            "SLOW" => self.slow = Some(value.to_owned()),
            "ENDS" => self.ending = value.to_owned(),
            "STDOUT" => self.stdout = value.replace("\\n", "\n"),
            "THREADS" => {
                self.threads = number()?;
                self.names.set("T", self.threads as i64)?;
            }
            "LET" => {
                let (name, formula) = value.split_once('=').ok_or_else(|| Mistake::NoRelation(value.to_owned()))?;
                let constant = Formula::parse(formula)?.value(&self.names)?;
                self.names.set(name.trim(), constant)?;
            }
            "EXPECT" => self.checks.push(Check::parse(value)?),
            _ => return Err(Mistake::Key(key.to_owned())),
        }
        Ok(())
    }
}

impl Check {
    fn parse(text: &str) -> Result<Self, Mistake> {
        // The formula may contain a relation too: the first one in the line counts.
        let (place, sign, relation) =
            [(" >= ", Relation::AtLeast), (" <= ", Relation::AtMost), (" = ", Relation::Equal)]
                .into_iter()
                .filter_map(|(sign, relation)| Some((text.find(sign)?, sign, relation)))
                .min_by_key(|(place, ..)| *place)
                .ok_or_else(|| Mistake::NoRelation(text.to_owned()))?;
        let subject = Subject::parse(&text[..place]).ok_or_else(|| Mistake::Subject(text[..place].to_owned()))?;
        let formula = Formula::parse(&text[place + sign.len()..])?;
        Ok(Self { text: text.to_owned(), subject, relation, formula })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Expectation, ExpectationError> {
        Expectation::parse(Path::new("p.c"), text)
    }

    #[test]
    fn a_whole_header_is_read() {
        let e = parse(
            "// A ring.\n// THREADS: 5\n// LET: N = T * 2\n// LEVELS: O2, O3 -mavx2\n// EXPECT: raw = N if r == 1\n\
             // EXPECT: rar sum in own loop work@here <= 4\nfor (;;) /*@here*/\n",
        )
        .unwrap();
        assert_eq!(e.levels, ["O2", "O3 -mavx2"]);
        assert_eq!(e.marks["here"], 7);
        assert_eq!(e.checks[1].relation, Relation::AtMost);
        let region = Selector { of: Some(("loop".to_owned(), "work".to_owned(), Some("here".to_owned()))), own: true };
        assert_eq!(e.checks[1].subject, Subject::Matrix { matrix: "rar".into(), part: Part::Sum, region });
        assert_eq!(Formula::parse("N").unwrap().value(&e.names).unwrap(), 10);
    }

    #[test]
    fn mistakes_name_file_and_line() {
        for (text, message) in [
            ("// THREADS: 2\n// EXPET: raw = 1", "p.c:2: unknown key EXPET"),
            ("// THREADS: two", "p.c:1: `two` is no number"),
            ("// THREADS: 2\n// EXPECT: raww = 1", "p.c:2: `raww` is nothing"),
            ("// THREADS: 2\n// EXPECT: raw = 1 + (", "p.c:2: "),
            ("// THREADS: 2", "p.c: no THREADS or no EXPECT line"),
        ] {
            let told = parse(text).unwrap_err().to_string();
            assert!(told.starts_with(message), "{told} instead of {message}");
        }
    }
}
