//! Response files: `@FILE` stands for the arguments in FILE, quoted as in the GNU tools.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Files may name further files; one that names itself would never end.
const MAX_DEPTH: usize = 16;

/// The arguments with each readable `@FILE` replaced by its contents. A file that cannot be read stays an argument,
/// as in clang, which then looks for a source file of that name.
pub fn expand(args: &[OsString]) -> Vec<OsString> {
    let mut expanded = Vec::with_capacity(args.len());
    for arg in args {
        push(arg, 0, &mut expanded);
    }
    expanded
}

fn push(arg: &OsStr, depth: usize, expanded: &mut Vec<OsString>) {
    if let Some(name) = arg.as_bytes().strip_prefix(b"@")
        && depth < MAX_DEPTH
        && let Ok(text) = std::fs::read(OsStr::from_bytes(name))
    {
        for inner in split(&text) {
            push(&inner, depth + 1, expanded);
        }
        return;
    }
    expanded.push(arg.to_os_string());
}

/// Splits at white space; `'..'` and `".."` keep it, a backslash takes the next character as it is.
fn split(text: &[u8]) -> Vec<OsString> {
    let mut args = Vec::new();
    let mut current: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (_, b'\\') => current.get_or_insert_default().extend(bytes.next()),
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => current.get_or_insert_default().push(byte),
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                current.get_or_insert_default();
            }
            (None, _) if byte.is_ascii_whitespace() || byte == 0 => {
                args.extend(current.take().map(OsString::from_vec));
            }
            (None, _) => current.get_or_insert_default().push(byte),
        }
    }
    args.extend(current.map(OsString::from_vec));
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_keep_what_they_protect() {
        let args = split(b"-c  'a b.c'\n-DX=\"1 2\" c\\ d.c '' \\\"q\n");
        assert_eq!(args, ["-c", "a b.c", "-DX=1 2", "c d.c", "", "\"q"]);
    }

    #[test]
    fn files_may_name_files_and_missing_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (outer, inner) = (folder.path().join("outer"), folder.path().join("inner"));
        std::fs::write(&inner, "-shared b.o").unwrap();
        std::fs::write(&outer, format!("a.o @{}", inner.display())).unwrap();
        let args = [OsString::from(format!("@{}", outer.display())), "@/no/such/file".into()];
        assert_eq!(expand(&args), ["a.o", "-shared", "b.o", "@/no/such/file"]);
    }

    #[test]
    fn a_file_that_names_itself_ends() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("loop");
        std::fs::write(&file, format!("-c @{}", file.display())).unwrap();
        let args = expand(&[OsString::from(format!("@{}", file.display()))]);
        assert_eq!(args.len(), MAX_DEPTH + 1);
    }
}
