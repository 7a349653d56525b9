//! Matrices for the eye: the threads of a region with names, folded together where there are too many to draw.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use threadtalk_crd::model::{Counts, Entry, Matrix, Ratios, Region, Thread};

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
    /// Reuse for each communication.
    pub crr: f64,
    /// Reuse of what came in another region.
    pub carried_in: bool,
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
        let sync = Some((&counts.sync_raw, &counts.sync_rar));
        let own = &counts.own;
        Some(Self::new(region, threads, (&counts.raw, &counts.rar), sync, &own.crr, &own.carried_in))
    }

    /// The events of the region and of those inside it. Synchronisation is told apart in own events only.
    pub fn total(region: &Region, threads: &[Thread]) -> Option<Self> {
        let counts: &Counts = region.counts.as_deref()?;
        let measures = counts.total();
        let matrices = (&counts.total_raw, &counts.total_rar);
        Some(Self::new(region, threads, matrices, None, &measures.crr, &measures.carried_in))
    }

    fn new(
        region: &Region,
        threads: &[Thread],
        (raw, rar): (&Matrix<u64>, &Matrix<u64>),
        sync: Option<(&Matrix<u64>, &Matrix<u64>)>,
        crr: &Ratios,
        carried_in: &[[u32; 2]],
    ) -> Self {
        let id = |index: u32| region.threads.get(index as usize).copied().unwrap_or_default();
        let [mut of_sync_raw, mut of_sync_rar] = [sync.map(|s| s.0), sync.map(|s| s.1)].map(Cursor::over);
        let mut of_rar = Cursor::over(Some(rar));
        let mut ratios = crr.entries().peekable();
        let cells = places(raw, rar).map(|(place, raw)| Cell {
            writer: place.0,
            reader: place.1,
            raw,
            rar: of_rar.at(place),
            sync_raw: of_sync_raw.at(place),
            sync_rar: of_sync_rar.at(place),
            crr: ratios.next_if(|e| (e.writer, e.reader) == place).map_or(0.0, |e| e.value),
            carried_in: !carried_in.is_empty() && carried_in.binary_search(&[id(place.0), id(place.1)]).is_ok(),
        });
        let cells = cells.collect();
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

/// The places where either matrix has an entry, ascending, with the first one's.
fn places<'a>(raw: &'a Matrix<u64>, rar: &'a Matrix<u64>) -> impl Iterator<Item = ((u32, u32), u64)> + 'a {
    let place = |entry: &Entry<u64>| (entry.writer, entry.reader);
    let (mut raw, mut rar) = (raw.entries().iter().peekable(), rar.entries().iter().peekable());
    std::iter::from_fn(move || {
        let next = [raw.peek(), rar.peek()].into_iter().flatten().map(|entry| place(entry)).min()?;
        rar.next_if(|entry| place(entry) == next);
        Some((next, raw.next_if(|entry| place(entry) == next).map_or(0, |entry| entry.value)))
    })
}

/// Looks entries up in ascending order: to search each anew was a quarter of a page of a million cells.
struct Cursor<'a, T>(&'a [Entry<T>]);

impl<'a, T: Copy + PartialEq + Default> Cursor<'a, T> {
    fn over(matrix: Option<&'a Matrix<T>>) -> Self {
        Self(matrix.map_or(&[], Matrix::entries))
    }

    /// The entry there, 0 if there is none. Places before it are not asked for again.
    fn at(&mut self, place: (u32, u32)) -> T {
        while let [first, rest @ ..] = self.0 {
            match (first.writer, first.reader).cmp(&place) {
                Ordering::Less => self.0 = rest,
                Ordering::Equal => return first.value,
                Ordering::Greater => break,
            }
        }
        T::default()
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
    let mut cells: Vec<Cell> = cells.into_values().collect();
    for cell in &mut cells {
        cell.crr = cell.rar as f64 / cell.raw.max(1) as f64;
        cell.carried_in = cell.raw == 0 && cell.rar > 0;
    }
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
