//! What the command lines of the tables have in common.

use crate::kernels::{self, Kernel};
use crate::{Error, Result};

pub(crate) fn usage(error: lexopt::Error) -> Error {
    Error::Usage(error.to_string())
}

pub(crate) fn text(parser: &mut lexopt::Parser) -> Result<String> {
    use lexopt::ValueExt;
    parser.value().and_then(|value| value.string()).map_err(usage)
}

pub(crate) fn list<T>(text: &str, each: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    text.split(',').map(each).collect()
}

pub(crate) fn number(text: &str, option: &str, most: u32) -> Result<u32> {
    let valid = text.parse().ok().filter(|n| (1..=most).contains(n));
    valid.ok_or_else(|| Error::Usage(format!("{option} takes numbers from 1 to {most}, not {text:?}")))
}

pub(crate) fn named_kernels(text: &str) -> Result<Vec<&'static Kernel>> {
    list(text, |name| {
        Kernel::named(name).ok_or_else(|| {
            let known: Vec<_> = kernels::ALL.iter().chain(kernels::PATTERNS).map(|kernel| kernel.name).collect();
            Error::Usage(format!("no kernel {name:?}; there are {}", known.join(", ")))
        })
    })
}
