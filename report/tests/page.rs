//! The page: whole, safe, and working in a browser.

#[path = "support/example.rs"]
mod example;

use std::path::PathBuf;
use std::process::Command;
use threadtalk::html;
use threadtalk_crd::model::Report;

/// A page with a script at its end that stands for the reader's hands, as the browser has it afterwards. None without a
/// browser.
fn in_browser(report: &Report, hands: &str) -> Option<String> {
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()));
    let Some(browser) = browser else {
        eprintln!("no browser: install the package chromium to run this test");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("index.html");
    let page = html::page(report);
    // Errors of our own scripts show as an attribute of the page.
    let watch = "<script>addEventListener('error', e => document.documentElement.dataset.error = e.message)</script>";
    let page = page.replacen("<body>", &format!("<body>{watch}"), 1);
    let page = page.replacen("</body>", &format!("<script>{hands}</script></body>"), 1);
    std::fs::write(&file, page).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(dom.contains("data-ready=\"yes\""), "the page did not come up: {}", &dom[..dom.len().min(300)]);
    assert!(!dom.contains("data-error="), "an error in the page: {}", &dom[..dom.len().min(300)]);
    // What stands before the data: the rest is the page's own script.
    Some(dom.split("<script id=\"data\"").next().unwrap_or_default().to_string())
}

fn table_rows(dom: &str) -> usize {
    let table = dom.split("id=\"regions\"").nth(1).unwrap().split("</table>").next().unwrap();
    table.matches("<tr data-id").count() + table.matches("class=\"all\"").count()
}

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
    if let Some(dom) = in_browser(&report, "document.querySelector('tr[data-id=\"2\"]').click()") {
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
    let Some(dom) = in_browser(&example::report(16, example::all_to_all), "") else { return };
    assert_eq!(table_rows(&dom), 4);
    assert_eq!(dom.matches("<svg class=\"matrix\"").count(), 3);
    assert!(dom.contains("Histogram of reuse distances"));
    assert!(dom.contains("lu.c:12") && dom.contains("lu.c:31"));
}

#[test]
fn keys_search_sort_and_select() {
    let hands = "
        const press = (key, on) => on.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
        press('/', document.body);
        const search = document.activeElement;
        search.value = 'loop'; search.dispatchEvent(new Event('input'));
        press('Enter', search);
        const root = document.documentElement.dataset;
        root.focus = search.id;
        root.rows = document.querySelectorAll('#regions tbody tr').length;
        root.selected = document.querySelector('#regions [aria-selected=true]').dataset.id;
        root.title = document.querySelector('#detail h2').textContent;
        search.value = ''; search.dispatchEvent(new Event('input'));
        document.querySelector('th[data-key=name] button').click();
        root.first = document.querySelectorAll('#regions tbody tr')[1].cells[0].textContent;
        press('t', document.body); press('t', document.body);
        root.chosen = root.theme;
        const matrix = document.querySelector('svg.matrix');
        press('ArrowRight', matrix); press('ArrowRight', matrix);
        root.tip = document.getElementById('tip').textContent;";
    let hands = format!("addEventListener('load', () => {{ {hands} }})");
    let Some(dom) = in_browser(&example::report(4, example::ring), &hands) else { return };
    let head = dom.split('>').take(3).collect::<String>();
    for attribute in [
        "data-focus=\"search\"",
        "data-rows=\"2\"",
        "data-selected=\"3\"",
        "data-title=\"loop in bmod\"",
        "data-first=\"bmod",
        "data-chosen=\"dark\"",
        "data-tip=\"0 main wrote, 1 worker read",
    ] {
        assert!(head.contains(attribute), "{attribute} is not in {head}");
    }
}

#[test]
fn a_thousand_regions_and_256_threads_come_up() {
    let mut report = example::report(256, example::halo);
    let pattern = report.regions[2].clone();
    for id in 5..1000 {
        let mut region = pattern.clone();
        (region.id, region.name) = (id, format!("region_{id}"));
        report.regions.push(region);
    }
    let size = html::page(&report).len();
    assert!(size < 30_000_000, "{size} bytes");
    let Some(dom) = in_browser(&report, "") else { return };
    assert_eq!(table_rows(&dom), 1 + 3 + 995);
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
