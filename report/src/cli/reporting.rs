//! What `report` and `compare` share: how profiles are analysed, how much is shown, how folders are written.

use clap::Args;

/// Regions in the text, if the user does not say how many.
pub const TOP_TEXT: usize = 12;
/// Regions with pictures, if the user does not say how many.
pub const TOP_SVG: usize = 24;

/// Arguments of both.
#[derive(Args, Debug)]
pub struct ReportingArgs {
    /// Caches of another machine, nearest first: 32K,1M,32M:shared=8
    #[arg(long, value_name = "SPEC")]
    pub caches: Option<String>,
    /// Leave out data that was written while only one thread existed
    #[arg(long)]
    pub hide_serial: bool,
    /// Replace files that are in the way
    #[arg(long)]
    pub force: bool,
}
