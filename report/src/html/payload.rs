//! The analysis as the page's script wants it: sparse, without repetition of strings.

use super::cells;
use super::source::{self, Lines};
use crate::fold::{Cell, Grid};
use crate::names::short;
use crate::{label, number, svg, text};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use threadtalk_crd::model::{
    Cache, Crd, Cutoff, Distances, Homogeneity, Line, Measures, Memory, Method, Object, Position, Region, Report,
    Suggestion, Thread,
};

/// Pairs of lines of each region that the page lists; all are in the JSON and CSV files.
const LINES: usize = 120;
/// Objects of each region that the page lists.
const OBJECTS: usize = 12;

/// Everything that the page shows.
#[derive(Serialize)]
pub struct Payload<'a> {
    program: ProgramPart<'a>,
    run: String,
    measured: String,
    accuracy_short: [String; 2],
    accuracy_long: String,
    hints: Vec<String>,
    options: OptionsPart,
    caches: &'a [Cache],
    viridis: [[u8; 3]; 9],
    context: u32,
    files: Vec<&'a str>,
    sources: BTreeMap<usize, Lines>,
    threads: Vec<ThreadPart<'a>>,
    regions: Vec<RegionPart<'a>>,
    total: RegionPart<'a>,
}

#[derive(Serialize)]
struct ProgramPart<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct OptionsPart {
    granule: u32,
}

#[derive(Serialize)]
struct ThreadPart<'a> {
    id: u32,
    name: &'a str,
    by: Option<u32>,
    at: Option<Place>,
    start: f64,
    end: Option<f64>,
    cpu: Option<f64>,
    openmp: bool,
    overflow: bool,
}

/// Number of the file and line; line 0 is unknown.
type Place = (usize, u32);

#[derive(Serialize)]
struct RegionPart<'a> {
    id: u32,
    kind: &'static str,
    name: std::borrow::Cow<'a, str>,
    /// As in the source, where `name` is shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    full: Option<&'a str>,
    symbol: Option<&'a str>,
    label: String,
    file: Option<usize>,
    line: Option<u32>,
    end_line: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    called_at: Vec<Option<Place>>,
    parent: Option<u32>,
    visits: u64,
    own: Option<Figures<'a>>,
    /// None if nothing inside communicates.
    total: Option<Figures<'a>>,
    lines: Vec<(Option<Place>, Option<Place>, u64, u64)>,
    lines_left_out: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    objects: Vec<ObjectPart<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<SuggestionPart<'a>>,
}

/// A variable or an allocation.
#[derive(Serialize)]
struct ObjectPart<'a> {
    name: &'a str,
    kind: Memory,
    at: Option<Place>,
    raw: u64,
    rar: u64,
    share: f64,
}

#[derive(Serialize)]
struct SuggestionPart<'a> {
    category: String,
    text: &'a str,
    evidence: &'a BTreeMap<String, f64>,
    lines: Vec<Place>,
}

/// The matrices and measures of a region. Made when they are written: all regions' would be as large as the page.
struct Figures<'a> {
    region: &'a Region,
    threads: &'a [Thread],
    measures: &'a Measures,
    /// The region's own events, else with those of the regions inside.
    is_own: bool,
    serial_raw: u64,
}

impl Serialize for Figures<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        figures(self).serialize(serializer)
    }
}

#[derive(Serialize)]
struct FiguresPart<'a> {
    size: usize,
    threads: &'a [u32],
    /// Only where threads are folded: else the page makes them from `threads`.
    labels: Option<Vec<String>>,
    note: Option<String>,
    /// RaW, RaR ([`cells::text`]).
    cells: String,
    /// RaW, RaR of synchronisation.
    sync: String,
    cells_carried: bool,
    raw: u64,
    rar: u64,
    has_sync: bool,
    sync_raw: u64,
    serial_raw: u64,
    homogeneity: f64,
    variants: Homogeneity,
    balance: f64,
    balance_by_reader: f64,
    threads_counted: usize,
    private_bytes: u64,
    crd: Option<CrdPart<'a>>,
}

#[derive(Serialize)]
struct CrdPart<'a> {
    distinct: DistancesPart,
    index: DistancesPart,
    method: Method,
    rate: f64,
    rank_error: f64,
    cutoffs: &'a [Cutoff],
}

#[derive(Serialize)]
struct DistancesPart {
    count: f64,
    median: Option<f64>,
    median_bytes: Option<f64>,
    p90_bytes: Option<f64>,
    buckets: Vec<(u64, u64, f64)>,
}

/// The files of the report, each once.
#[derive(Default)]
struct Files<'a> {
    names: Vec<&'a str>,
    numbers: HashMap<&'a str, usize>,
    wanted: BTreeMap<usize, BTreeSet<u32>>,
}

impl<'a> Files<'a> {
    fn number(&mut self, name: &'a str) -> usize {
        let names = &mut self.names;
        *self.numbers.entry(name).or_insert_with(|| {
            names.push(name);
            names.len() - 1
        })
    }

    fn place(&mut self, position: &'a Position) -> Option<Place> {
        let file = self.number(position.file.as_deref()?);
        Some((file, position.line.unwrap_or(0)))
    }

    /// A place whose source text the page shows.
    fn shown(&mut self, position: &'a Position) -> Option<Place> {
        let place = self.place(position)?;
        if place.1 > 0 {
            self.wanted.entry(place.0).or_default().insert(place.1);
        }
        Some(place)
    }
}

/// The page's data.
pub fn of(report: &Report) -> Payload<'_> {
    let mut files = Files::default();
    let regions: Vec<_> = report.regions.iter().map(|r| region(r, &report.threads, &mut files)).collect();
    let total = region(&report.program_total, &report.threads, &mut files);
    let threads = report.threads.iter().map(|t| thread(t, &mut files)).collect();
    let (run, accuracy_long) = text::run_and_accuracy(report);
    Payload {
        program: ProgramPart { name: &report.program.name },
        run,
        measured: measured(report),
        accuracy_short: accuracy(report),
        accuracy_long,
        hints: text::hints(report),
        options: OptionsPart { granule: report.options.granule },
        caches: &report.caches,
        viridis: svg::VIRIDIS,
        context: source::CONTEXT,
        sources: source::read(&files.names, &files.wanted),
        files: files.names,
        threads,
        regions,
        total,
    }
}

fn measured(report: &Report) -> String {
    let serial =
        if report.options.hide_serial { " Data written while only one thread existed is left out." } else { "" };
    format!("Elements are {} bytes; a region counts what its readers read in it.{serial}", report.options.granule)
}

/// The figure for the tile, and its name.
fn accuracy(report: &Report) -> [String; 2] {
    if report.options.mode == "exact" {
        return ["exact".to_string(), "no false events".to_string()];
    }
    let rate = report.accuracy.estimated_false_rate;
    let bound = if rate > 0.0 { "\u{2264} " } else { "" };
    [format!("{bound}{}", number::percent(rate)), "of events may be false".to_string()]
}

fn thread<'a>(thread: &'a Thread, files: &mut Files<'a>) -> ThreadPart<'a> {
    ThreadPart {
        id: thread.id,
        name: &thread.name,
        by: thread.created_by,
        at: thread.created_at.as_ref().and_then(|at| files.place(at)),
        start: thread.start_s,
        end: thread.end_s,
        cpu: thread.cpu_s,
        openmp: thread.openmp,
        overflow: thread.overflow,
    }
}

fn region<'a>(region: &'a Region, threads: &'a [Thread], files: &mut Files<'a>) -> RegionPart<'a> {
    let counts = region.counts.as_deref();
    let lines: &'a [Line] = counts.map_or(&[], |counts| &counts.lines);
    let listed = &lines[..lines.len().min(LINES)];
    let own = counts.filter(|counts| !counts.raw.is_zero() || !counts.rar.is_zero());
    let own = own.map(|counts| Figures {
        region,
        threads,
        measures: &counts.own,
        is_own: true,
        serial_raw: counts.serial_raw.sum(),
    });
    let total = counts.and_then(|counts| {
        let serial_raw = counts.total_serial_raw.sum();
        Some(Figures { region, threads, measures: counts.total.as_ref()?, is_own: false, serial_raw })
    });
    let name = short(&region.name);
    RegionPart {
        id: region.id,
        kind: region.kind.name(),
        full: Some(region.name.as_str()).filter(|full| name != *full),
        name,
        symbol: region.symbol.as_deref(),
        label: label::name(region),
        file: region.file.as_deref().map(|file| files.number(file)),
        line: region.line,
        end_line: region.end_line,
        called_at: region.called_at.iter().map(|at| files.shown(at)).collect(),
        parent: region.parent,
        visits: region.visits,
        own,
        total,
        lines: listed.iter().map(|l| (files.shown(&l.writer), files.shown(&l.reader), l.raw, l.rar)).collect(),
        lines_left_out: lines.len() - listed.len(),
        objects: region.objects.iter().take(OBJECTS).map(|o| object(o, files)).collect(),
        suggestions: region.suggestions.iter().map(|s| suggestion(s, files)).collect(),
    }
}

fn object<'a>(object: &'a Object, files: &mut Files<'a>) -> ObjectPart<'a> {
    ObjectPart {
        name: &object.name,
        kind: object.kind,
        at: object.file.as_deref().map(|file| (files.number(file), object.line.unwrap_or(0))),
        raw: object.raw,
        rar: object.rar,
        share: object.share,
    }
}

fn suggestion<'a>(suggestion: &'a Suggestion, files: &mut Files<'a>) -> SuggestionPart<'a> {
    SuggestionPart {
        category: text::category(suggestion),
        text: &suggestion.text,
        evidence: &suggestion.evidence,
        lines: suggestion.lines.iter().filter_map(|at| files.shown(at)).collect(),
    }
}

fn figures<'a>(of: &Figures<'a>) -> FiguresPart<'a> {
    let &Figures { region, threads, measures, is_own, serial_raw } = of;
    let grid = if is_own { Grid::own(region, threads) } else { Grid::total(region, threads) };
    let grid = grid.unwrap_or_default();
    let is_sync = |cell: &&Cell| cell.sync_raw > 0 || cell.sync_rar > 0;
    let sync: Vec<Cell> = grid.cells.iter().filter(is_sync).copied().collect();
    FiguresPart {
        size: grid.size(),
        threads: &region.threads,
        // A script's numbers are exact up to 2^53: more than a run can count.
        cells: cells::text(&grid.cells, grid.size(), |cell| [cell.raw, cell.rar]),
        sync: cells::text(&sync, grid.size(), |cell| [cell.sync_raw, cell.sync_rar]),
        cells_carried: grid.cells.iter().any(|cell| cell.is_carried_in()),
        raw: grid.sum(|cell| cell.raw),
        rar: grid.sum(|cell| cell.rar),
        has_sync: is_own,
        sync_raw: grid.sum(|cell| cell.sync_raw),
        serial_raw,
        labels: grid.note.is_some().then_some(grid.labels),
        note: grid.note,
        homogeneity: measures.homogeneity,
        variants: measures.homogeneity_variants,
        balance: measures.balance,
        balance_by_reader: measures.balance_by_reader,
        threads_counted: measures.threads_counted,
        private_bytes: measures.private_bytes,
        crd: measures.crd.as_ref().map(crd),
    }
}

fn crd(crd: &Crd) -> CrdPart<'_> {
    CrdPart {
        distinct: distances(&crd.distinct),
        index: distances(&crd.index),
        method: crd.method,
        rate: crd.rate,
        rank_error: crd.rank_error,
        cutoffs: &crd.cutoffs,
    }
}

fn distances(distances: &Distances) -> DistancesPart {
    DistancesPart {
        count: distances.count,
        median: distances.median,
        median_bytes: distances.median_bytes,
        p90_bytes: distances.p90_bytes,
        buckets: distances.buckets.iter().map(|b| (b.lo, b.hi, b.count)).collect(),
    }
}
