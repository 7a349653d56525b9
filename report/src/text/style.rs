//! Colours on terminals, none elsewhere.

use std::io::IsTerminal;

/// Whether to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    coloured: bool,
}

/// Emphasis.
pub trait Paint {
    /// Headings.
    fn strong(self, text: &str) -> String;
    /// What matters less.
    fn faint(self, text: &str) -> String;
    /// Warnings.
    fn loud(self, text: &str) -> String;
}

impl Style {
    /// No colours.
    pub fn plain() -> Self {
        Self { coloured: false }
    }

    /// Colours if standard output is a terminal, unless `NO_COLOR` is set (no-color.org) or the terminal is dumb.
    pub fn of_stdout() -> Self {
        Self { coloured: std::io::stdout().is_terminal() && wanted() }
    }

    /// The same for standard error.
    pub fn of_stderr() -> Self {
        Self { coloured: std::io::stderr().is_terminal() && wanted() }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}

fn wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

impl Paint for Style {
    fn strong(self, text: &str) -> String {
        self.wrap("1", text)
    }

    fn faint(self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn loud(self, text: &str) -> String {
        self.wrap("1;33", text)
    }
}
