//! Pages in a real browser.
#![allow(dead_code)] // each test file uses a part

use std::process::Command;

/// A page with a script at its end that stands for the reader's hands, as the browser has it afterwards. None without a
/// browser.
pub fn in_browser(page: &str, hands: &str) -> Option<String> {
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()));
    let Some(browser) = browser else {
        eprintln!("no browser: install the package chromium to run this test");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("index.html");
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

/// Rows of the table of regions that stand for a region or for the whole program.
pub fn table_rows(dom: &str) -> usize {
    let table = dom.split("id=\"regions\"").nth(1).unwrap().split("</table>").next().unwrap();
    table.matches("<tr data-id").count() + table.matches("class=\"all\"").count()
}
