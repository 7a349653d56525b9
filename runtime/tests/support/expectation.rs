//! The comments in which a program says what it expects. The form is described in `programs/README.md`.

use super::Linkage;

/// What one program announces.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    /// File name of the program.
    pub name: String,
    /// Another compiler; its OpenMP programs run with LLVM's runtime.
    pub compiler: Option<String>,
    /// More for the compiler.
    pub flags: Vec<String>,
    /// A library's source and more for its compiler.
    pub library: Option<Vec<String>>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// Ways to link it.
    pub linkage: Vec<Linkage>,
    /// Exit status or `signal N`.
    pub status: String,
    /// Lines of stdout.
    pub stdout: Vec<String>,
    /// Lines of the trace, in order.
    pub trace: Vec<String>,
    /// Numbers of lines that begin with these words.
    pub counts: Vec<(usize, String)>,
    /// Lines about the profile, in any order; see [`super::profile::lines`].
    pub profile: Vec<String>,
    /// Numbers of such lines that begin with these words.
    pub profile_counts: Vec<(usize, String)>,
    /// The program goes on in the background.
    pub outlives: bool,
}

impl Expectation {
    /// Reads the comments of a program.
    pub fn read(name: &str, text: &str) -> Self {
        let mut it = Self { name: name.into(), status: "0".into(), ..Self::default() };
        let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        for line in text.lines() {
            let Some((key, value)) = line.strip_prefix("// ").and_then(|rest| rest.split_once(": ")) else { continue };
            match key {
                "compiler" => it.compiler = Some(value.into()),
                "flags" => it.flags = words(value),
                "library" => it.library = Some(words(value)),
                "environment" => {
                    let (name, value) = value.split_once('=').unwrap_or_else(|| panic!("{name}: {line}: NAME=VALUE"));
                    it.environment.push((name.into(), value.into()));
                }
                "linkage" => it.linkage = value.split_whitespace().map(Linkage::from_name).collect(),
                "status" => it.status = value.into(),
                "stdout" => it.stdout.push(value.into()),
                "trace" => it.trace.push(value.into()),
                "profile" => it.profile.push(value.into()),
                "count" | "profile-count" => {
                    let (count, words) = value.split_once(' ').unwrap_or_else(|| panic!("{name}: {line}: N WORDS"));
                    let counts = if key == "count" { &mut it.counts } else { &mut it.profile_counts };
                    counts.push((count.parse().unwrap_or_else(|e| panic!("{name}: {line}: {e}")), words.into()));
                }
                "outlives" => it.outlives = true,
                _ => {}
            }
        }
        if it.linkage.is_empty() {
            it.linkage = vec![Linkage::Archive, Linkage::Preload];
        }
        it
    }

    /// Compares a trace with the announced lines and numbers.
    pub fn check_trace(&self, trace: &str) -> Result<(), String> {
        let mut lines = trace.lines();
        for expected in &self.trace {
            if !lines.any(|line| line == expected) {
                return Err(format!("no line `{expected}` after those before it"));
            }
        }
        check_counts(&self.counts, trace.lines())
    }

    /// Whether anything is expected of the profile.
    pub fn is_about_profile(&self) -> bool {
        !self.profile.is_empty() || !self.profile_counts.is_empty()
    }

    /// Compares lines about a profile with the announced ones.
    pub fn check_profile(&self, lines: &[String]) -> Result<(), String> {
        match self.profile.iter().find(|expected| !lines.contains(expected)) {
            Some(expected) => Err(format!("no line `{expected}` about the profile")),
            None => check_counts(&self.profile_counts, lines.iter().map(String::as_str)),
        }
    }
}

fn check_counts<'a>(counts: &[(usize, String)], lines: impl Iterator<Item = &'a str> + Clone) -> Result<(), String> {
    for (count, words) in counts {
        let begins = |line: &&str| {
            line.strip_prefix(words.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':']))
        };
        let found = lines.clone().filter(begins).count();
        if found != *count {
            return Err(format!("{found} lines `{words}` instead of {count}"));
        }
    }
    Ok(())
}
