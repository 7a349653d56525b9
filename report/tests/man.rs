//! Manual pages.

mod support;

use support::{assert_error, tool};

/// Every command that the help names has a page with its options.
#[test]
fn each_command_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    assert!(tool().arg("man").arg(&pages).status().unwrap().success());
    let help = tool().arg("--help").output().unwrap();
    let help = support::out(&help);
    let commands = help.split("Commands:\n").nth(1).unwrap().lines().take_while(|line| !line.is_empty());
    let names: Vec<&str> = commands
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.contains(&"report") && names.contains(&"man"), "{names:?}");
    for name in names {
        let page = std::fs::read_to_string(pages.join(format!("threadtalk-{name}.1"))).expect(name);
        assert!(page.contains(".TH threadtalk-"), "{name}: {page}");
    }
    let page = std::fs::read_to_string(pages.join("threadtalk-compare.1")).unwrap();
    assert!(page.contains("fail\\-on"), "{page}");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let output = tool().arg("man").arg(file.join("man1")).output().unwrap();
    assert_error(&output, 1, &["create the folder", "man1"]);
}
