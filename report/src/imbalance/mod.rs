//! The imbalance of a profile for the eye: text, page, pictures, JSON, CSV. The analysis is
//! `threadtalk_crd::imbalance::profile`.

mod counted;
mod csv;
mod page;
mod source;
mod table;
mod text;
pub mod words;

pub use csv::{blocks, causes, regions};
pub use page::{STYLE, page, part};
pub use text::{Shape, text};

use crate::error::{Error, Result};
use crate::label;
use crate::svg::imbalance as figures;
use threadtalk_crd::imbalance::profile::model::{CallNode, Imbalance, Section};
use threadtalk_crd::model::{Region, Report};

/// The schema of what [`json`] gives.
pub const SCHEMA: &str = include_str!("../../schema/threadtalk.imbalance-1.schema.json");

/// An analysis of imbalance, and that of communication of the same profile.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Communication.
    pub report: &'a Report,
    /// Imbalance.
    pub imbalance: &'a Imbalance,
}

impl<'a> View<'a> {
    /// What the report says of a region; none if a filter left it out.
    pub fn region(&self, id: u32) -> Option<&'a Region> {
        let at = self.report.regions.binary_search_by_key(&id, |region| region.id);
        at.ok().map(|at| &self.report.regions[at])
    }

    /// A region's name and place.
    fn called(&self, id: u32) -> (String, String) {
        self.region(id).map_or_else(|| (format!("region {id}"), String::new()), |r| (label::name(r), label::place(r)))
    }

    /// Whether anything of imbalance was recorded at all.
    pub fn is_empty(&self) -> bool {
        let i = self.imbalance;
        i.sections.is_empty() && i.regions.is_empty() && i.parallelism.is_none() && i.waits.is_empty()
    }
}

/// The analysis on one line, and a line end.
pub fn json(imbalance: &Imbalance) -> String {
    let mut text = serde_json::to_string(imbalance).expect("the model holds nothing that JSON cannot");
    text.push('\n');
    text
}

/// Names and pictures: the sections' threads, the call graph, regions' distributions, block vectors.
pub fn pictures(view: View, top: usize) -> Vec<(String, String)> {
    let imbalance = view.imbalance;
    let mut pictures = Vec::new();
    for (index, section) in words::told(imbalance).0.into_iter().take(top).enumerate() {
        pictures.push((format!("imbalance-section-{}.svg", index + 1), section_picture(view, section)));
    }
    if let Some(picture) = calls_picture(view) {
        pictures.push(("imbalance-calls.svg".to_owned(), picture));
    }
    for row in table::worst(view, table::metric(imbalance), top) {
        let name = view.region(row.region.id).map_or_else(|| row.region.id.to_string(), label::file_name);
        let (title, unit) = (view.called(row.region.id), words::unit(row.metric));
        let title = format!("{} {}", title.0, title.1);
        let of = figures::Bars {
            title: &title,
            threads: &row.region.team,
            values: &row.figures.values,
            unit,
            instances: None,
        };
        pictures.push((format!("imbalance-region-{name}.svg"), figures::distribution(&of)));
    }
    if let Some(parallelism) = &imbalance.parallelism {
        for (name, by_line) in [("functions", false), ("lines", true)] {
            if let Some(picture) = figures::heat(parallelism, by_line) {
                pictures.push((format!("imbalance-blocks-by-{name}.svg"), picture));
            }
        }
        if let Some(picture) = figures::hot_spots(parallelism) {
            pictures.push(("imbalance-hot-spots.svg".to_owned(), picture));
        }
    }
    pictures
}

/// The threads of a section.
fn section_picture(view: View, section: &Section) -> String {
    let ranks: Vec<u32> = (0..section.threads as u32).collect();
    let threads = section.team.as_deref().unwrap_or(&ranks);
    let title = words::section(section);
    let unit = words::dependent_unit(section.compared(view.imbalance.dependent));
    let instances = (section.instances > 1).then_some((section.instances, section.imbalance_percent));
    figures::distribution(&figures::Bars { title: &title, threads, values: &section.values, unit, instances })
}

/// The call graph by CPU time, or by time where the kernel has no clock of CPU time; none without times.
fn calls_picture(view: View) -> Option<String> {
    let name = |node: &CallNode| view.called(node.region).0;
    figures::calls(&view.imbalance.calls, &name)
}

/// The one picture for standard output: the threads of the section that loses most.
pub fn first_picture(view: View) -> Result<String> {
    let section = view.imbalance.sections.first();
    section
        .map(|s| section_picture(view, s))
        .ok_or_else(|| Error::NoSections { program: view.report.program.name.clone() })
}
