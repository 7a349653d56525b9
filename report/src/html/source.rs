//! The source text around lines that communicate, as far as the files can be read when the page is made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Lines before and after.
pub const CONTEXT: u32 = 4;
/// Larger files are generated: nobody reads them.
const MAX_FILE: u64 = 8 << 20;
/// A page with all of a large program in it would load slowly.
const MAX_TOTAL: usize = 4 << 20;
/// Longer lines are cut.
const MAX_LINE: usize = 240;

/// Numbered lines.
pub type Lines = BTreeMap<u32, String>;

/// The wanted lines of each file with their surroundings. `wanted` is by file number; files that cannot be read are
/// left out.
pub fn read(files: &[&str], wanted: &BTreeMap<usize, BTreeSet<u32>>) -> BTreeMap<usize, Lines> {
    let mut sources = BTreeMap::new();
    let mut total = 0;
    for (file, lines) in wanted {
        let Some(text) = files.get(*file).and_then(|path| text_of(Path::new(path))) else { continue };
        let mut found = Lines::new();
        let numbers: BTreeSet<u32> =
            lines.iter().flat_map(|line| line.saturating_sub(CONTEXT).max(1)..=line.saturating_add(CONTEXT)).collect();
        let mut all = (1u32..).zip(text.lines()).peekable();
        for number in numbers {
            while all.next_if(|(at, _)| *at < number).is_some() {}
            if let Some((_, line)) = all.next_if(|(at, _)| *at == number) {
                let line = crate::fold::shorten(line.trim_end(), MAX_LINE).replace('\t', "    ");
                total += line.len();
                found.insert(number, line);
            }
        }
        if total > MAX_TOTAL {
            break;
        }
        sources.insert(*file, found);
    }
    sources
}

fn text_of(path: &Path) -> Option<String> {
    let meta = path.metadata().ok()?;
    if !meta.is_file() || meta.len() > MAX_FILE {
        return None;
    }
    Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_with_their_surroundings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.c");
        let text: String = (1..=40).map(|n| format!("\tline {n}  \n")).collect();
        std::fs::write(&path, text).unwrap();
        let files = [path.to_str().unwrap(), "/no/such/file.c"];
        let wanted = BTreeMap::from([(0, BTreeSet::from([2, 20])), (1, BTreeSet::from([1]))]);
        let sources = read(&files, &wanted);
        assert_eq!(sources.len(), 1);
        let numbers: Vec<u32> = sources[&0].keys().copied().collect();
        assert_eq!(numbers, (1..=6).chain(16..=24).collect::<Vec<_>>());
        assert_eq!(sources[&0][&20], "    line 20");
    }
}
