//! One line for a command line that cannot be understood.

use crate::error::{Error, USAGE};
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Status of `run` for its own errors, as `env` and `timeout` have it.
const RUN_FAILED: u8 = 125;

/// What the parser says in a paragraph, in one line: what, in which argument, what to do.
pub fn one_line(error: &clap::Error, launching: bool) -> Error {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    let what = match error.kind() {
        ErrorKind::MissingRequiredArgument => "missing argument".to_string(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => "no command".to_string(),
        ErrorKind::InvalidSubcommand => "no such command".to_string(),
        ErrorKind::UnknownArgument => "unknown argument".to_string(),
        _ => first.trim_start_matches("error: ").trim_end_matches(':').to_string(),
    };
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(" ")),
        _ => None,
    };
    let place = context(ContextKind::InvalidArg)
        .or_else(|| context(ContextKind::InvalidSubcommand))
        .unwrap_or_else(|| "command line".to_string());
    // The parser gives several where more names are close, the closest last.
    let closest = |kind| match error.get(kind) {
        Some(ContextValue::Strings(names)) => names.last().cloned(),
        _ => context(kind),
    };
    let near = closest(ContextKind::SuggestedArg).or_else(|| closest(ContextKind::SuggestedSubcommand));
    let valid = context(ContextKind::ValidValue).filter(|values| !values.is_empty());
    let advice = match (near, valid) {
        (Some(near), _) => format!("did you mean '{near}'?"),
        (None, Some(valid)) => format!("choose one of: {valid}"),
        _ => match context(ContextKind::Usage).or_else(|| usage(&text)) {
            Some(usage) => format!("usage: {usage}"),
            None => "see threadtalk --help".to_string(),
        },
    };
    let status = if launching { RUN_FAILED } else { USAGE };
    Error::Launch { status, source: Box::new(Error::usage(what, place, advice)) }
}

fn usage(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix("Usage: ")).map(str::to_string)
}
