//! One line of `threadtalk doctor`.

use std::fmt::Display;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    Note,
    Missing,
}

/// What was looked at and what was found.
pub struct Check {
    name: &'static str,
    verdict: Verdict,
    text: String,
}

impl Check {
    /// As it should be.
    pub fn good(name: &'static str, text: impl Display) -> Self {
        Self { name, verdict: Verdict::Good, text: text.to_string() }
    }

    /// Works without it, or less well.
    pub fn note(name: &'static str, text: impl Display) -> Self {
        Self { name, verdict: Verdict::Note, text: text.to_string() }
    }

    /// Does not work without it.
    pub fn missing(name: &'static str, text: impl Display) -> Self {
        Self { name, verdict: Verdict::Missing, text: text.to_string() }
    }

    /// True if the tool cannot work.
    pub fn is_missing(&self) -> bool {
        self.verdict == Verdict::Missing
    }

    /// The line to print.
    pub fn line(&self) -> String {
        let mark = match self.verdict {
            Verdict::Good => "ok     ",
            Verdict::Note => "note   ",
            Verdict::Missing => "MISSING",
        };
        format!("{mark}  {:<17} {}\n", self.name, self.text)
    }
}

/// The limit on a process's address space in bytes, if there is one.
pub fn address_space_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is valid for writing.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    (result == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}
