//! Matrices for the eye: the threads of a region with names, folded together where there are too many to draw.

use std::collections::BTreeMap;
use threadtalk_crd::model::{Entry, Matrix, Region, Thread, is_carried_in, ratio};

/// Threads that a picture shows one by one.
pub const LIMIT: usize = 256;

/// A cell with an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// Row.
    pub writer: u32,
    /// Column.
    pub reader: u32,
    /// True communication.
    pub raw: u64,
    /// Reuse.
    pub rar: u64,
    /// Part of `raw` whose read is atomic.
    pub sync_raw: u64,
    /// Part of `rar` whose read is atomic.
    pub sync_rar: u64,
}

impl Cell {
    /// Reuse for each communication.
    pub fn crr(&self) -> f64 {
        ratio(self.raw, self.rar)
    }

    /// Reuse of what came in another region.
    pub fn is_carried_in(&self) -> bool {
        is_carried_in(self.raw, self.rar)
    }
}

/// The matrices of a region.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// What rows and columns stand for: a thread or a group.
    pub labels: Vec<String>,
    /// Logical threads behind each label.
    pub members: Vec<Vec<u32>>,
    /// How threads were folded, if they were.
    pub note: Option<String>,
    /// Cells with an event, by (writer, reader).
    pub cells: Vec<Cell>,
}

impl Grid {
    /// The region's own events.
    pub fn own(region: &Region, threads: &[Thread]) -> Option<Self> {
        let counts = region.counts.as_deref()?;
        Some(Self::new(region, threads, [&counts.raw, &counts.rar, &counts.sync_raw, &counts.sync_rar]))
    }

    /// The events of the region and of those inside it. Synchronisation is told apart in own events only.
    pub fn total(region: &Region, threads: &[Thread]) -> Option<Self> {
        let counts = region.counts.as_deref()?;
        let none = Matrix::default();
        Some(Self::new(region, threads, [&counts.total_raw, &counts.total_rar, &none, &none]))
    }

    /// `counts`: true communication, reuse, and those parts of both whose read is atomic.
    fn new(region: &Region, threads: &[Thread], counts: [&Matrix<u64>; 4]) -> Self {
        let cells = cells(counts.map(Matrix::entries));
        let labels = thread_labels(&region.threads, threads);
        let members = region.threads.iter().map(|id| vec![*id]).collect();
        let grid = Self { labels, members, note: None, cells };
        if grid.labels.len() > LIMIT { fold(grid, threads) } else { grid }
    }

    /// Number of rows and of columns.
    pub fn size(&self) -> usize {
        self.labels.len()
    }

    /// Sum over the cells.
    pub fn sum(&self, field: impl Fn(&Cell) -> u64) -> u64 {
        self.cells.iter().fold(0, |sum, cell| sum.saturating_add(field(cell)))
    }
}

/// The cells where one of the first two of these counts has an entry, ascending.
///
/// All are walked through together: to search each anew was a quarter of a page of a million cells, and iterators that
/// were put together from one of each count another one.
fn cells([mut raw, mut rar, mut sync_raw, mut sync_rar]: [&[Entry<u64>]; 4]) -> Vec<Cell> {
    // Most cells have events of both kinds.
    let mut cells = Vec::with_capacity(raw.len().max(rar.len()));
    loop {
        let first = match (raw, rar) {
            ([], []) => break,
            ([received, ..], [reused, ..]) if reused.place() < received.place() => reused,
            ([first, ..], _) | ([], [first, ..]) => first,
        };
        let place = first.place();
        cells.push(Cell {
            writer: first.writer,
            reader: first.reader,
            raw: take(&mut raw, place),
            rar: take(&mut rar, place),
            sync_raw: take(&mut sync_raw, place),
            sync_rar: take(&mut sync_rar, place),
        });
    }
    cells
}

/// Takes the first entry if it is at that place; else its count is 0.
fn take(of: &mut &[Entry<u64>], place: u64) -> u64 {
    match of {
        [first, rest @ ..] if first.place() == place => {
            *of = rest;
            first.value
        }
        _ => 0,
    }
}

/// `3 worker`, or `3` where names tell nothing: none given, or the same for all.
fn thread_labels(ids: &[u32], threads: &[Thread]) -> Vec<String> {
    let name = |id: &u32| find(threads, *id).map_or("", |thread| thread.name.as_str());
    let telling = ids.windows(2).any(|pair| name(&pair[0]) != name(&pair[1]));
    let label = |id| match name(id) {
        name if telling && !name.is_empty() => format!("{id} {}", shorten(name, 14)),
        _ => id.to_string(),
    };
    ids.iter().map(label).collect()
}

/// The thread with this id; they are sorted by it.
pub fn find(threads: &[Thread], id: u32) -> Option<&Thread> {
    threads.binary_search_by_key(&id, |thread| thread.id).ok().map(|at| &threads[at])
}

/// At most so many characters; what is left out shows as an ellipsis.
pub fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}\u{2026}", kept.trim_end())
}

/// Threads of one name and one place of creation become one row; if even these are too many, neighbours do.
fn fold(grid: Grid, threads: &[Thread]) -> Grid {
    let mut groups: BTreeMap<(String, String), Vec<u32>> = BTreeMap::new();
    let ids: Vec<u32> = grid.members.iter().flatten().copied().collect();
    for (index, id) in (0u32..).zip(&ids) {
        groups.entry(origin(threads, *id)).or_default().push(index);
    }
    let mut rows: Vec<(String, Vec<u32>)> = groups
        .into_iter()
        .map(|((name, place), members)| (group_label(&name, &place, members.len(), ids[members[0] as usize]), members))
        .collect();
    rows.sort_by_key(|(_, members)| members[0]);
    let how = if rows.len() <= LIMIT && rows.len() > 1 {
        "by name and place of creation"
    } else {
        rows = neighbours(&ids);
        "with their neighbours"
    };
    let note = format!("{} threads folded into {} groups {how}", ids.len(), rows.len());
    let mut target = vec![0u32; ids.len()];
    for (row, (_, members)) in (0u32..).zip(&rows) {
        members.iter().for_each(|member| target[*member as usize] = row);
    }
    let mut cells: BTreeMap<(u32, u32), Cell> = BTreeMap::new();
    for cell in &grid.cells {
        let (writer, reader) = (target[cell.writer as usize], target[cell.reader as usize]);
        let sum = cells.entry((writer, reader)).or_insert(Cell { writer, reader, ..Cell::default() });
        sum.raw = sum.raw.saturating_add(cell.raw);
        sum.rar = sum.rar.saturating_add(cell.rar);
        sum.sync_raw = sum.sync_raw.saturating_add(cell.sync_raw);
        sum.sync_rar = sum.sync_rar.saturating_add(cell.sync_rar);
    }
    let cells = cells.into_values().collect();
    let members = rows.iter().map(|(_, members)| members.iter().map(|m| ids[*m as usize]).collect()).collect();
    Grid { labels: rows.into_iter().map(|(label, _)| label).collect(), members, note: Some(note), cells }
}

fn origin(threads: &[Thread], id: u32) -> (String, String) {
    let Some(thread) = find(threads, id) else { return Default::default() };
    let place = match &thread.created_at {
        Some(place) => match (&place.file, place.line) {
            (Some(file), Some(line)) => format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)),
            (Some(file), None) => file.to_string(),
            _ => String::new(),
        },
        None => String::new(),
    };
    (thread.name.clone(), place)
}

fn group_label(name: &str, place: &str, count: usize, first: u32) -> String {
    let what = match (name, place) {
        ("", "") => format!("from {first}"),
        ("", place) => place.to_string(),
        (name, _) => name.to_string(),
    };
    if count == 1 {
        format!("{first} {}", shorten(name, 14)).trim_end().to_string()
    } else {
        format!("{} x{count}", shorten(&what, 16))
    }
}

fn neighbours(ids: &[u32]) -> Vec<(String, Vec<u32>)> {
    let each = ids.len().div_ceil(LIMIT);
    let indices: Vec<u32> = (0..ids.len() as u32).collect();
    let label = |chunk: &[u32]| match chunk {
        [one] => ids[*one as usize].to_string(),
        chunk => format!("{}-{}", ids[chunk[0] as usize], ids[chunk[chunk.len() - 1] as usize]),
    };
    indices.chunks(each).map(|chunk| (label(chunk), chunk.to_vec())).collect()
}
