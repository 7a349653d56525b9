//! How long a browser takes to show a page.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::error::during;
use crate::{Error, Result, process};

/// Runs after the page's own script: asks for the layout, so that it is made, and notes the time since the navigation
/// began.
const STOPWATCH: &str = "<script>document.body.offsetHeight;\
    document.documentElement.dataset.shown = performance.now()</script></body>";
const MARK: &str = "data-shown=\"";

/// Milliseconds from the request for `page` until it is built and laid out, by the browser's own clock.
pub(super) fn shown_ms(browser: &Path, page: &str, scratch: &Path, limit: Duration) -> Result<f64> {
    let file = scratch.join("page.html");
    // The last one: scripts of the page may speak of it.
    let Some((before, after)) = page.rsplit_once("</body>") else { return Err(no_time(browser)) };
    during(|| format!("writing {}", file.display()), std::fs::write(&file, format!("{before}{STOPWATCH}{after}")))?;
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", scratch.join("browser").display()));
    command.arg(format!("file://{}", file.display()));
    let dom = process::run(command, scratch, limit)?.stdout;
    found(&dom).ok_or_else(|| no_time(browser))
}

fn found(dom: &str) -> Option<f64> {
    dom.split_once(MARK)?.1.split_once('"')?.0.parse().ok()
}

fn no_time(browser: &Path) -> Error {
    Error::NotShown(browser.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_read_from_the_finished_page() {
        assert_eq!(found("<html lang=\"en\" data-ready=\"yes\" data-shown=\"812.25\"><body>"), Some(812.25));
        assert_eq!(found("<html lang=\"en\">"), None);
    }

    #[test]
    fn a_browser_that_shows_nothing_is_named() {
        let scratch = tempfile::tempdir().unwrap();
        let limit = Duration::from_secs(60);
        let error = shown_ms(Path::new("true"), "<body></body>", scratch.path(), limit).unwrap_err().to_string();
        assert_eq!(
            error,
            "true did not show the page: name another with --browser, or leave it out with --browser none"
        );
    }
}
