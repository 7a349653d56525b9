//! What the environment variable `THREADTALK_PASS_OPTIONS` says: `name=value` pairs with colons between them.

use crate::access::Plan;
use thiserror::Error;

/// The environment variable.
pub const VARIABLE: &str = "THREADTALK_PASS_OPTIONS";

/// Options of the pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// `opt`: whether the optimisations of [`crate::optimise`] run.
    pub optimise: bool,
    /// `inline_limit`: how many accesses of a function may have inlined sequences. If it has more, those of its
    /// innermost loops have, as many as that are, and all others call the hooks.
    pub inline_limit: usize,
    /// `ignorelist`: a file in clang's special case list format.
    pub ignorelist: Option<String>,
    /// `verify`: over what LLVM's verifier runs afterwards.
    pub verify: Verify,
    /// `stats`: print what was done to stderr.
    pub stats: bool,
    /// `features`: what is compiled in, with commas between.
    pub features: Features,
    /// `control_all`: each block gets a counter of its own beside those of the edges.
    pub control_all: bool,
    /// `functions`: define the functions that instrumented modules call, for the runtime's archive, and do nothing
    /// else.
    pub functions: bool,
}

/// What is looked at by LLVM's verifier. What it finds would else be a crash of the code generator, or wrong addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// `verify=0`: nothing.
    Nothing,
    /// Functions in which loops were copied: where values could be taken from a place that does not dominate their use.
    /// What else the pass does splits blocks, and the whole module takes a third of the pass's time in large functions.
    #[default]
    Copies,
    /// `verify=1`: the module. What the tests do.
    Module,
}

/// What the pass adds to a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// `memory`: each access looks at the state of what it touches: who communicates with whom.
    pub memory: bool,
    /// `control`: counters of control flow, times of regions, lines of synchronisation.
    pub control: bool,
    /// `cache`: each access goes through a model of the caches. Slow.
    pub cache: bool,
}

impl Features {
    /// What a program gets whose author asks for nothing: `report` needs `memory`, `imbalance` needs `control`, which
    /// adds 1 to 3 % to what `memory` costs.
    pub const UNASKED: Features = Features { memory: true, control: true, cache: false };

    fn parse(text: &str) -> Result<Self, OptionError> {
        let mut features = Features::default();
        for name in text.split(',') {
            match name {
                "memory" => features.memory = true,
                "control" => features.control = true,
                "cache" => features.cache = true,
                _ => return Err(OptionError::UnknownFeature(name.to_string())),
            }
        }
        Ok(features)
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            optimise: true,
            inline_limit: 2000,
            ignorelist: None,
            verify: Verify::default(),
            stats: false,
            features: Features::UNASKED,
            control_all: false,
            functions: false,
        }
    }
}

/// What can be wrong in the variable.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum OptionError {
    /// No `=`.
    #[error("{VARIABLE}: '{0}' is not name=value")]
    NotAPair(String),
    /// No such option.
    #[error(
        "{VARIABLE}: unknown option '{0}' (known: opt, inline_limit, ignorelist, verify, stats, features, control_all, \
         functions)"
    )]
    Unknown(String),
    /// No such feature.
    #[error("{VARIABLE}: unknown feature '{0}' (known: memory, control, cache)")]
    UnknownFeature(String),
    /// A flag that is neither 0 nor 1.
    #[error("{VARIABLE}: {name}={value}: expected 0 or 1")]
    NotAFlag {
        /// The option.
        name: String,
        /// What it was set to.
        value: String,
    },
    /// A number that is none.
    #[error("{VARIABLE}: {name}={value}: expected a whole number")]
    NotANumber {
        /// The option.
        name: String,
        /// What it was set to.
        value: String,
    },
}

impl Options {
    /// Parses the variable's value. Empty parts are skipped, so that values can be appended to it.
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let mut options = Options::default();
        for part in text.split(':').filter(|p| !p.is_empty()) {
            let (name, value) = part.split_once('=').ok_or_else(|| OptionError::NotAPair(part.to_string()))?;
            match name {
                "opt" => options.optimise = flag(name, value)?,
                "verify" => options.verify = if flag(name, value)? { Verify::Module } else { Verify::Nothing },
                "stats" => options.stats = flag(name, value)?,
                "functions" => options.functions = flag(name, value)?,
                "control_all" => options.control_all = flag(name, value)?,
                "features" => options.features = Features::parse(value)?,
                "ignorelist" => options.ignorelist = Some(value.to_string()),
                "inline_limit" => {
                    options.inline_limit = value
                        .parse()
                        .map_err(|_| OptionError::NotANumber { name: name.to_string(), value: value.to_string() })?
                }
                _ => return Err(OptionError::Unknown(name.to_string())),
            }
        }
        Ok(options)
    }

    /// Whether what can be left out of a function's sequences is looked for.
    pub fn optimises(&self, plan: &Plan<'_>) -> bool {
        self.optimise && plan.inlined.allows_some()
    }

    /// Reads the variable.
    pub fn from_environment() -> Result<Self, OptionError> {
        Self::parse(&std::env::var_os(VARIABLE).unwrap_or_default().to_string_lossy())
    }
}

fn flag(name: &str, value: &str) -> Result<bool, OptionError> {
    match value {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(OptionError::NotAFlag { name: name.to_string(), value: value.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Options::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn pairs_are_read_and_empty_parts_skipped() {
        let text = "opt=0::inline_limit=7:ignorelist=/a b/list:verify=0:stats=1:features=control,cache:control_all=1:functions=1";
        let got = Options::parse(text).unwrap();
        let features = Features { memory: false, control: true, cache: true };
        let ignorelist = Some("/a b/list".to_string());
        assert_eq!(
            got,
            Options {
                optimise: false,
                inline_limit: 7,
                ignorelist,
                verify: Verify::Nothing,
                stats: true,
                features,
                control_all: true,
                functions: true
            }
        );
        assert_eq!(Options::parse("").unwrap(), Options::default());
        assert_eq!(Options::default().verify, Verify::Copies);
        assert_eq!(Options::parse("verify=0:verify=1").unwrap().verify, Verify::Module);
    }

    #[test]
    fn errors_name_the_variable_the_part_and_what_is_expected() {
        assert_eq!(message("opt"), "THREADTALK_PASS_OPTIONS: 'opt' is not name=value");
        assert_eq!(
            message("features=memory,flow"),
            "THREADTALK_PASS_OPTIONS: unknown feature 'flow' (known: memory, control, cache)"
        );
        assert!(message("fast=1").starts_with("THREADTALK_PASS_OPTIONS: unknown option 'fast' (known: opt,"));
        assert_eq!(message("opt=2"), "THREADTALK_PASS_OPTIONS: opt=2: expected 0 or 1");
        assert_eq!(message("inline_limit=-1"), "THREADTALK_PASS_OPTIONS: inline_limit=-1: expected a whole number");
    }
}
