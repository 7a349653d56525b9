//! Names for people.

use std::fmt::{self, Write};

/// Longest name that is shown demangled. Substitutions can make a few hundred characters stand for gigabytes.
const LONGEST: usize = 4096;

/// The name of a symbol in the source's language: C++ (Itanium ABI) or Rust; none if it is neither, as in C. Of what
/// cannot be read to its end, or is far too long, the function's own name: generic functions have thousands of letters.
pub fn demangle(symbol: &str) -> Option<String> {
    in_full(symbol).or_else(|| own_name(symbol))
}

/// The identifiers at the beginning of a C++ symbol: `a::b` of `_ZN1a1b...`.
fn own_name(symbol: &str) -> Option<String> {
    let mut rest = symbol.strip_prefix("_Z")?;
    let is_nested = rest.starts_with('N');
    rest = rest.trim_start_matches(['N', 'K']);
    let mut parts = Vec::new();
    if let Some(behind) = rest.strip_prefix("St") {
        parts.push("std");
        rest = behind;
    }
    while let Some(digits) = rest.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0) {
        let length: usize = rest.get(..digits)?.parse().ok()?;
        let after = rest.get(digits..)?;
        parts.push(after.get(..length).filter(|part| !part.is_empty())?);
        rest = &after[length..];
        if !is_nested {
            break;
        }
    }
    let is_generic = rest.starts_with('I');
    // An operator has no identifier.
    parts.last().is_some_and(|own| *own != "std").then(|| parts.join("::") + if is_generic { "<\u{2026}>" } else { "" })
}

fn in_full(symbol: &str) -> Option<String> {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        // `{:#}` leaves out the hash.
        return bounded(|out| write!(out, "{name:#}"));
    }
    if !symbol.starts_with("_Z") {
        return None;
    }
    let parsed = cpp_demangle::Symbol::new(symbol).ok()?;
    bounded(|out| parsed.structured_demangle(&mut *out, &cpp_demangle::DemangleOptions::default()))
}

fn bounded(write: impl FnOnce(&mut Bounded) -> fmt::Result) -> Option<String> {
    let mut out = Bounded(String::new());
    write(&mut out).ok()?;
    Some(out.0).filter(|name| !name.is_empty())
}

struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_three_languages() {
        assert_eq!(demangle("_Z4bmodPdS_S_iiii").unwrap(), "bmod(double*, double*, double*, int, int, int, int)");
        assert_eq!(demangle("_ZN3foo3bar17h05af221e174051e9E").unwrap(), "foo::bar");
        assert_eq!(demangle("_RNvC6_123foo3bar").unwrap(), "123foo::bar");
        assert_eq!(demangle("bmod"), None);
        assert_eq!(demangle("_Zq"), None);
        // Not to be read to the end.
        assert_eq!(demangle("_Z4moveWIiEvT_").unwrap(), "move");
        assert_eq!(demangle("_ZN5graph4moveWIiEvT_").unwrap(), "graph::move");
        assert_eq!((demangle("_Z9move"), demangle("_Z0")), (None, None));
    }

    #[test]
    fn names_without_end_lose_what_makes_them_long() {
        // Each parameter repeats all that came before it.
        let mut symbol = "_Z1fISt4pairIiiE".to_owned();
        for _ in 0..12 {
            symbol.push_str("St4pairIS1_S1_ES2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_");
        }
        symbol.push_str("EvT_");
        assert!(demangle(&symbol).is_none_or(|name| name.len() <= LONGEST));
        let operator = format!("_ZStlsI{}EvT_", "St4pairIiiE".repeat(1000));
        assert_eq!(demangle(&operator), None);
        for (own, name) in [("1f", "f"), ("St6invoke", "std::invoke"), ("NSt6thread6invoke", "std::thread::invoke")] {
            let end = if own.starts_with('N') { "E" } else { "" };
            let symbol = format!("_Z{own}I{}E{end}vT_", "St4pairIiiE".repeat(1000));
            assert_eq!(demangle(&symbol).unwrap(), format!("{name}<\u{2026}>"));
        }
    }
}
