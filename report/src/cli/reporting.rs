//! What commands share: how profiles are analysed, how much is shown.

use crate::error::Result;
use crate::profile;
use clap::Args;
use threadtalk_crd::machine::Cache;

/// Regions in the text, if the user does not say how many.
const TOP_TEXT: usize = 12;
/// Regions with pictures, if the user does not say how many.
const TOP_SVG: usize = 24;

/// Arguments of everything that analyses a profile.
#[derive(Args, Debug)]
pub struct AnalysisArgs {
    /// Caches of another machine, nearest first: 32K,1M,32M:shared=8
    #[arg(long, value_name = "SPEC")]
    caches: Option<String>,
    /// Leave out data that was written while only one thread existed
    #[arg(long)]
    pub hide_serial: bool,
}

impl AnalysisArgs {
    /// The caches that the user gave in the place of the machine's.
    pub fn caches(&self) -> Result<Option<Vec<Cache>>> {
        self.caches.as_deref().map(profile::caches).transpose()
    }
}

/// Arguments of what shows regions.
#[derive(Args, Debug)]
pub struct TopArgs {
    /// At most so many regions (or sections) in the text, besides those with a tenth of all reuse, and so many with
    /// pictures
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
}

impl TopArgs {
    /// How many regions the text shows.
    pub fn in_text(&self) -> usize {
        self.top.map_or(TOP_TEXT, |top| top as usize)
    }

    /// How many regions get pictures.
    pub fn with_pictures(&self) -> usize {
        self.top.map_or(TOP_SVG, |top| top as usize)
    }
}
