//! More threads than a picture can show: folded, with all events kept, and said so.

#[path = "support/example.rs"]
mod example;
#[path = "support/synthetic.rs"]
mod synthetic;

use example::{halo, master, report};
use threadtalk::fold::{Grid, LIMIT};
use threadtalk::{html, svg};

#[test]
fn up_to_the_limit_every_thread_has_its_row() {
    let report = report(LIMIT as u32, halo);
    let grid = Grid::own(&report.regions[2], &report.threads).unwrap();
    assert_eq!((grid.size(), grid.note), (LIMIT, None));
    assert_eq!((grid.labels[0].as_str(), grid.labels[255].as_str()), ("0 main", "255 worker"));
}

#[test]
fn threads_of_one_name_and_origin_become_one_row() {
    let mut report = report(300, master);
    for thread in &mut report.threads[200..] {
        thread.name = "writer".to_string();
    }
    let grid = Grid::own(&report.regions[2], &report.threads).unwrap();
    assert_eq!(grid.labels, ["0 main", "worker x199", "writer x100"]);
    assert_eq!(grid.members[2], (200..300).collect::<Vec<_>>());
    assert_eq!(grid.note.as_deref(), Some("300 threads folded into 3 groups by name and place of creation"));
    let counts = report.regions[2].counts.as_ref().unwrap();
    assert_eq!((grid.sum(|cell| cell.raw), grid.sum(|cell| cell.rar)), (counts.raw.sum(), counts.rar.sum()));
    let to_workers = grid.cells.iter().find(|cell| (cell.writer, cell.reader) == (0, 1)).unwrap();
    assert_eq!(to_workers.raw, (1..200).map(|reader| 500 + reader * 3).sum::<u64>());
    assert_eq!(to_workers.crr(), to_workers.rar as f64 / to_workers.raw as f64);
}

/// Pictures derive from counts what the analysis says of ratios, and of what came in another region.
#[test]
fn ratios_and_dotted_cells_are_those_of_the_analysis() {
    let mut contents = synthetic::contents(8, 0);
    contents.events.iter_mut().filter(|event| event.writer % 3 == 1).for_each(|event| event.raw = 0);
    let profile = threadtalk_profile::Profile::from_bytes(&contents.encode()).unwrap();
    let report = threadtalk_crd::analyse(&profile, &threadtalk_crd::Options::default());
    let (mut cells, mut carried_in) = (0, 0);
    for region in report.regions.iter().filter(|region| region.counts.is_some()) {
        let counts = region.counts.as_ref().unwrap();
        let grids =
            [(Grid::own(region, &report.threads), &counts.own), (Grid::total(region, &report.threads), counts.total())];
        for (grid, measures) in grids {
            let grid = grid.unwrap();
            for cell in &grid.cells {
                assert_eq!(cell.crr(), measures.crr.get(cell.writer as usize, cell.reader as usize), "{}", region.name);
            }
            let dotted = grid.cells.iter().filter(|cell| cell.is_carried_in());
            let dotted = dotted.map(|cell| [cell.writer, cell.reader].map(|place| region.threads[place as usize]));
            assert_eq!(dotted.collect::<Vec<_>>(), measures.carried_in, "{}", region.name);
            (cells, carried_in) = (cells + grid.cells.len(), carried_in + measures.carried_in.len());
        }
    }
    assert!(cells > 50 && carried_in > 0, "{cells} cells, {carried_in} of them with reuse alone");
}

#[test]
fn threads_that_are_all_alike_are_folded_with_their_neighbours() {
    let mut report = report(1000, halo);
    report.threads.iter_mut().for_each(|thread| (thread.name, thread.created_at) = (String::new(), None));
    let grid = Grid::own(&report.regions[2], &report.threads).unwrap();
    assert_eq!(grid.size(), 250);
    assert_eq!((grid.labels[0].as_str(), grid.labels[249].as_str()), ("0-3", "996-999"));
    assert_eq!(grid.sum(|cell| cell.raw), report.regions[2].counts.as_ref().unwrap().raw.sum());
    assert!(grid.cells.iter().any(|cell| cell.writer == cell.reader), "neighbours talk inside their group");
}

#[test]
fn pictures_and_page_say_that_threads_are_folded() {
    let report = report(300, master);
    let note = "300 threads folded into 2 groups by name and place of creation";
    let pictures = svg::all(&report, 1);
    assert!(pictures.iter().any(|(name, picture)| name.starts_with("matrix-") && picture.contains(note)));
    assert!(html::page(&report).contains(note));
}
