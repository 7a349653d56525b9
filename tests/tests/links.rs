//! Links in the project's documents lead to files, and to headings in them, that are there.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use threadtalk_tests::distribution::workspace;

/// Documents of the workspace: of the folders that hold sources.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            documents(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// Lines that are not in a block of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        is_code ^= fence;
        !is_code && !fence
    })
}

/// What a link to each heading of a document ends with: letters, digits, `_` and `-`, spaces as `-`; of headings with
/// one name the second one has `-1` behind it.
fn anchors(text: &str) -> HashSet<String> {
    let mut times: HashMap<String, u32> = HashMap::new();
    let headings = prose(text).filter_map(|line| Some(line.strip_prefix('#')?.trim_start_matches('#').trim()));
    headings
        .map(|heading| {
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' '));
            let name: String = kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
            let before = times.entry(name.clone()).or_default();
            *before += 1;
            if *before > 1 { format!("{name}-{}", *before - 1) } else { name }
        })
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let mut all = Vec::new();
    documents(&workspace(), &mut all);
    assert!(all.len() > 10, "{all:?}");
    let mut broken = Vec::new();
    let mut links = 0;
    for document in &all {
        let text = fs::read_to_string(document).unwrap();
        for line in prose(&text) {
            for link in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                if link.contains(':') || link.contains(' ') {
                    continue;
                }
                links += 1;
                let (file, heading) =
                    link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
                let target = if file.is_empty() { document.clone() } else { document.with_file_name("").join(file) };
                let leads = match heading {
                    None => target.exists(),
                    Some(heading) => fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(heading)),
                };
                if !leads {
                    broken.push(format!("{}: {link}", document.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(links > 100, "only {links} links were found");
}

#[test]
fn headings_of_one_name_are_told_apart() {
    let text = "# One thing: `a_b`, and 2\n## Two\n```\n# no heading\n```\n## Two\n";
    let expected = ["one-thing-a_b-and-2", "two", "two-1"];
    assert_eq!(anchors(text), expected.into_iter().map(String::from).collect());
}
