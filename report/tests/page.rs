//! The page: whole, safe, and working in a browser.

#[path = "support/browser.rs"]
mod browser;
#[path = "support/example.rs"]
mod example;

use browser::{in_browser, table_rows};
use std::path::PathBuf;
use threadtalk::html;

#[test]
fn nothing_of_the_profile_becomes_markup() {
    let mut report = example::report(4, example::ring);
    let evil = "</script><script>document.documentElement.dataset.evil='1'</script><!--";
    report.program.name = evil.to_string();
    report.threads[1].name = evil.to_string();
    report.regions[2].name = evil.to_string();
    let page = html::page(&report);
    assert_eq!(page.matches("</script>").count(), 2, "only the page's own scripts end");
    assert!(!page.contains("<script>document.documentElement"));
    if let Some(dom) = in_browser(&page, "document.querySelector('tr[data-id=\"2\"]').click()") {
        assert!(!dom.contains("data-evil="));
    }
}

#[test]
fn it_needs_no_network() {
    let page = html::page(&example::report(4, example::ring));
    assert!(page.contains("default-src 'none'"));
    for outside in ["http://", "https://", "src=\"", "@import", "url("] {
        let found = page.match_indices(outside).next();
        assert_eq!(found, None, "{outside}");
    }
}

#[test]
fn every_placeholder_of_the_template_is_filled() {
    let page = html::page(&example::report(2, example::ring));
    for name in ["title", "style", "script", "data", "version"] {
        assert!(!page.contains(&format!("{{{{{name}}}}}")), "{name}");
    }
}

#[test]
fn it_shows_all_that_communicates() {
    let Some(dom) = in_browser(&html::page(&example::report(16, example::all_to_all)), "") else { return };
    assert_eq!(table_rows(&dom), 4);
    assert_eq!(dom.matches("<svg class=\"matrix\"").count(), 3);
    assert!(dom.contains("Histogram of reuse distances"));
    assert!(dom.contains("lu.c:12") && dom.contains("lu.c:31"));
}

#[test]
fn the_assets_are_where_they_are_looked_for() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets");
    let report = example::report(2, example::ring);
    let comparison = threadtalk_crd::compare::compare(&report, &report, &Default::default());
    let view = threadtalk::compare::View { base: &report, new: &report, comparison: &comparison };
    let pages = html::page(&report) + &threadtalk::compare::page(view, 1);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let is_template = path.extension().is_some_and(|extension| extension == "html");
        assert!(is_template || pages.contains(text.trim_end()), "{} is in no page", path.display());
    }
}
