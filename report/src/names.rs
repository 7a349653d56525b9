//! Names of C++ as they fit into a line: what stands in brackets is left out where a name is long.
//!
//! `std::enable_if<(..), int>::type Table<Key, Value>::find<Fn>(Key const&, Fn) const` says which function it is by
//! what is left: `Table<…>::find<Fn>(…)`. Arguments of templates stay where there is room for them, the shortest first:
//! often they alone tell instances apart.

use std::borrow::Cow;
use std::ops::Range;

/// Names of so many characters are told in full.
const LONG: usize = 48;

const ANONYMOUS: &str = "(anonymous namespace)";

/// With arguments of templates a name has so many at most: `loop in ` comes before it, and columns have 44.
const ROOM: usize = 36;

/// Stands for what was left out.
const LEFT_OUT: char = '\u{2026}';

/// A name, without what is in its brackets if it is long.
pub fn short(name: &str) -> Cow<'_, str> {
    if name.chars().count() <= LONG {
        return Cow::Borrowed(name);
    }
    let (emptied, contents) = without_brackets(name);
    let kept = without_result(&emptied).unwrap_or(0..emptied.len());
    let before = emptied[..kept.start].matches(LEFT_OUT).count();
    let contents = contents.get(before..).unwrap_or_default();
    Cow::Owned(with_arguments(&emptied[kept], contents))
}

/// With arguments of templates, as many as there is room for. `contents`: what was in the brackets.
fn with_arguments(emptied: &str, contents: &[&str]) -> String {
    let pieces: Vec<&str> = emptied.split(LEFT_OUT).collect();
    // A symbol may hold the sign itself.
    if pieces.len() != contents.len() + 1 {
        return emptied.to_owned();
    }
    let is_template = |&at: &usize| pieces[at].ends_with('<');
    let mut arguments: Vec<usize> = (0..contents.len()).filter(is_template).collect();
    arguments.sort_by_key(|&at| contents[at].chars().count());
    let mut length = emptied.chars().count();
    let mut kept = vec![None; contents.len()];
    for at in arguments {
        length += contents[at].chars().count() - 1;
        if length > ROOM {
            break;
        }
        kept[at] = Some(contents[at]);
    }
    let mut out = pieces[0].to_owned();
    for (piece, kept) in pieces[1..].iter().zip(kept) {
        match kept {
            Some(arguments) => out.push_str(arguments),
            None => out.push(LEFT_OUT),
        }
        out.push_str(piece);
    }
    out
}

/// The part without the type of the result before it and `const` behind it. Operators have spaces of their own.
fn without_result(name: &str) -> Option<Range<usize>> {
    // The blank in it ends no type.
    let joined = name.replace(ANONYMOUS, &"_".repeat(ANONYMOUS.len()));
    let end = joined.rfind(')')? + 1;
    let start = joined[..end].rfind(' ')? + 1;
    let is_whole = !name.contains("operator") && joined[start..].contains('(');
    is_whole.then_some(start..end)
}

/// A name with empty brackets, and what was in them.
fn without_brackets(name: &str) -> (String, Vec<&str>) {
    let (mut out, mut contents) = (String::new(), Vec::new());
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        // What follows is the operator's own.
        if let Some(after) = rest.strip_prefix("operator").filter(|_| !out.ends_with(is_of_word)) {
            let signs = after.len() - after.trim_start_matches(|c| "<>=-+*/!&|^%~,[]".contains(c)).len();
            let signs = if after.starts_with("()") { 2 } else { signs };
            let end = "operator".len() + signs;
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let length = match next {
            '<' | '(' => bracketed(rest),
            _ => None,
        };
        match length {
            // `(anonymous namespace)` and `()` are no longer without what is in them.
            Some(length) if length > 2 && !rest.starts_with(ANONYMOUS) => {
                out.push(next);
                out.push(LEFT_OUT);
                contents.push(&rest[1..length - 1]);
                out.push(if next == '<' { '>' } else { ')' });
                rest = &rest[length..];
            }
            Some(length) => {
                out.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            None => {
                out.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    (out, contents)
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Bytes from an opening bracket to the one that closes it; none if none does.
fn bracketed(text: &str) -> Option<usize> {
    let (mut depth, mut before) = (0u32, ' ');
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '{' => depth += 1,
            // An arrow closes nothing.
            '>' if before == '-' => {}
            '>' | ')' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + character.len_utf8());
        }
        before = character;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn brackets_of_long_names_are_emptied() {
        let name = "void Table<std::pair<int, Key const*>, Less>::find<int>(std::vector<int> const&) const";
        assert_eq!(short(name), "Table<…>::find<int>(…)");
        let name = "std::ostream& operator<< <char, traits>(std::basic_ostream<char, traits>&, Matrix const&)";
        assert_eq!(short(name), "std::ostream& operator<< <…>(…)");
        let name = "(anonymous namespace)::worker_loop()::{lambda(std::size_t, std::size_t)#1}::operator()(unsigned long) const";
        assert_eq!(short(name), "(anonymous namespace)::worker_loop()::{lambda(…)#1}::operator()(…) const");
        let name = "static long (anonymous namespace)::tracking_allocator::sum_all(const int *, std::size_t)";
        assert_eq!(short(name), "(anonymous namespace)::tracking_allocator::sum_all(…)");
        let name = "(anonymous namespace)::tracking_allocator::sum_all_of_them(const int *)";
        assert_eq!(short(name), "(anonymous namespace)::tracking_allocator::sum_all_of_them(…)");
        // Short ones, and others that have no brackets.
        assert_eq!(short("bmod(double*, double*)"), "bmod(double*, double*)");
        let name = "a_function_of_c_whose_name_is_longer_than_what_is_left_alone";
        assert_eq!(short(name), name);
    }

    #[test]
    fn instances_are_told_apart_where_there_is_room() {
        let instance = |arguments: &str| {
            let name = format!("void Force::compute_all<{arguments}>(Atoms&, Neighbours const&, Communication&)");
            short(&name).into_owned()
        };
        assert_eq!(instance("0"), "Force::compute_all<0>(…)");
        assert_eq!(instance("float, true"), "Force::compute_all<float, true>(…)");
        assert_eq!(instance("std::pair<unsigned long, double>"), "Force::compute_all<…>(…)");
    }

    proptest! {
        #[test]
        fn any_name_gets_no_longer(name in "[a-z:<>(){}, é-]{0,120}(operator[<>(]{0,3})?[a-z<>()]{0,60}") {
            prop_assert!(short(&name).chars().count() <= name.chars().count());
        }
    }
}
