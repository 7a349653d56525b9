use super::*;
use crate::model::{Counts, Crd, Entry, Homogeneity, Matrix, Measures, Ratios};

fn region(id: u32, kind: RegionKind, name: &str, (file, line, end): (&str, u32, u32), parent: u32) -> Region {
    Region {
        id,
        kind,
        name: name.to_string(),
        symbol: None,
        file: Some(file.into()),
        line: Some(line),
        end_line: Some(end),
        called_at: Vec::new(),
        parent: (id > 0).then_some(parent),
        visits: 1,
        threads: vec![0, 1],
        visits_by_thread: vec![1, 0],
        counts: None,
        objects: Vec::new(),
        false_sharing: Vec::new(),
        suggestions: Vec::new(),
    }
}

fn talking(mut region: Region) -> Region {
    let events = Matrix::new(2, vec![Entry { writer: 0, reader: 1, value: 9 }]);
    let none = Matrix::new(2, Vec::new());
    let own = Measures {
        crr: Ratios::default(),
        carried_in: Vec::new(),
        homogeneity: 0.0,
        homogeneity_variants: Homogeneity::default(),
        balance: 0.0,
        balance_by_reader: 0.0,
        threads_counted: 2,
        private_bytes: 0,
        crd: None::<Crd>,
    };
    region.counts = Some(Box::new(Counts {
        raw: events.clone(),
        total_raw: events,
        rar: none.clone(),
        total_rar: none.clone(),
        sync_raw: none.clone(),
        sync_rar: none.clone(),
        serial_raw: none.clone(),
        serial_rar: none.clone(),
        total_serial_raw: none.clone(),
        total_serial_rar: none,
        own,
        total: None,
        lines: Vec::new(),
    }));
    region
}

/// Some function.
pub(super) fn function() -> Region {
    region(1, FUNCTION, "f", ("a.c", 10, 20), 0)
}

const FUNCTION: RegionKind = RegionKind::Function;
const LOOP: RegionKind = RegionKind::Loop;

fn program(regions: Vec<Region>) -> Vec<Region> {
    let root = region(0, RegionKind::Program, "program", ("", 0, 0), 0);
    std::iter::once(root).chain(regions).collect()
}

/// Without the pair of the programs: ids of base and new, and how they were found.
fn found(base: &[Region], new: &[Region]) -> Vec<(u32, u32, Matched)> {
    let pairs = pairs(base, new);
    assert_eq!((pairs[0].base, pairs[0].new), (0, 0));
    pairs[1..].iter().map(|p| (base[p.base].id, new[p.new].id, p.matched)).collect()
}

#[test]
fn folders_do_not_matter_and_lines_move() {
    let base = program(vec![
        region(1, FUNCTION, "f", ("/old/src/a.c", 10, 20), 0),
        region(2, LOOP, "f", ("/old/src/a.c", 12, 18), 1),
        region(3, FUNCTION, "g", ("/old/src/a.c", 30, 40), 0),
    ]);
    let new = program(vec![
        region(1, FUNCTION, "g", ("/new/a.c", 50, 60), 0),
        region(2, FUNCTION, "f", ("/new/a.c", 10, 20), 0),
        region(3, LOOP, "f", ("/new/a.c", 13, 18), 2),
    ]);
    assert_eq!(found(&base, &new), [(1, 2, Matched::Same), (2, 3, Matched::Moved), (3, 1, Matched::Moved)]);
}

#[test]
fn of_equal_names_the_nearest_lines_win() {
    let base = program(vec![region(1, FUNCTION, "operator()", ("a.cpp", 100, 110), 0)]);
    let new = program(vec![
        region(1, FUNCTION, "operator()", ("a.cpp", 20, 30), 0),
        region(2, FUNCTION, "operator()", ("a.cpp", 95, 105), 0),
        region(3, FUNCTION, "operator()", ("b.cpp", 100, 110), 0),
    ]);
    assert_eq!(found(&base, &new), [(1, 2, Matched::Moved)]);
}

#[test]
fn a_function_of_another_file_is_the_last_resort_before_a_renaming() {
    let base = program(vec![region(1, FUNCTION, "bmod", ("lu_ncb.c", 100, 110), 0)]);
    let new = program(vec![
        region(1, FUNCTION, "other", ("lu_ncb.c", 100, 110), 0),
        region(2, FUNCTION, "bmod", ("lu_cb.c", 300, 310), 0),
    ]);
    assert_eq!(found(&base, &new), [(1, 2, Matched::Moved)]);
}

#[test]
fn a_renamed_function_is_found_where_it_was_with_all_that_is_in_it() {
    // Everything is 40 lines further down, as `main` shows.
    let base = program(vec![
        region(1, FUNCTION, "main", ("a.c", 10, 20), 0),
        region(2, FUNCTION, "multiply", ("a.c", 30, 50), 0),
        region(3, LOOP, "multiply", ("a.c", 32, 48), 2),
        region(4, FUNCTION, "check", ("a.c", 60, 90), 0),
    ]);
    let new = program(vec![
        region(1, FUNCTION, "main", ("a.c", 50, 60), 0),
        region(2, FUNCTION, "verify", ("a.c", 100, 130), 0),
        region(3, FUNCTION, "multiply_blocked", ("a.c", 70, 95), 0),
        region(4, LOOP, "multiply_blocked", ("a.c", 72, 93), 3),
    ]);
    let renamed = Matched::Renamed;
    assert_eq!(found(&base, &new), [(1, 1, Matched::Moved), (2, 3, renamed), (3, 4, renamed), (4, 2, renamed)]);
}

#[test]
fn of_those_near_each_other_the_ones_that_communicate_belong_together() {
    // `checksum` went to another file as `line_checksum`, and `check_lines` begins a little nearer to where it was.
    let base = program(vec![
        talking(region(1, FUNCTION, "checksum", ("pipe.c", 33, 39), 0)),
        region(2, FUNCTION, "check_lines", ("pipe.c", 41, 49), 0),
    ]);
    let new = program(vec![
        region(1, FUNCTION, "verify_lines", ("pipe.c", 35, 43), 0),
        talking(region(2, FUNCTION, "line_checksum", ("check.c", 4, 14), 0)),
    ]);
    let renamed = Matched::Renamed;
    assert_eq!(found(&base, &new), [(1, 2, renamed), (2, 1, renamed)]);
    assert_eq!(found(&new, &base), [(1, 2, renamed), (2, 1, renamed)]);
    // Without one that communicates, all communication may be gone.
    let new = program(vec![region(1, FUNCTION, "hash", ("pipe.c", 35, 43), 0)]);
    assert_eq!(found(&base[..2], &new), [(1, 1, renamed)]);
}

#[test]
fn other_parameters_or_another_namespace_are_a_new_name_in_any_file() {
    let base = program(vec![
        region(1, FUNCTION, "sum(int)", ("a.cpp", 10, 20), 0),
        region(2, FUNCTION, "void old::apply<int>(int)", ("a.cpp", 30, 40), 0),
    ]);
    let new = program(vec![
        region(1, FUNCTION, "void apply<float>(float, int)", ("a.cpp", 10, 20), 0),
        region(2, FUNCTION, "sum(int, int)", ("b.cpp", 300, 320), 0),
    ]);
    assert_eq!(found(&base, &new), [(1, 2, Matched::Renamed), (2, 1, Matched::Renamed)]);
    // What has no name in common and is in another file is another function.
    let other = program(vec![region(1, FUNCTION, "mean(int)", ("b.cpp", 10, 20), 0)]);
    assert_eq!(found(&base, &other), []);
}

#[test]
fn no_renaming_over_a_distance_of_another_kind_or_of_a_name_still_there() {
    let base = program(vec![
        region(1, FUNCTION, "gone", ("a.c", 10, 20), 0),
        region(2, FUNCTION, "twice", ("a.c", 400, 410), 0),
        region(3, FUNCTION, "twice", ("a.c", 420, 430), 0),
    ]);
    let new = program(vec![
        region(1, FUNCTION, "far", ("a.c", 100, 120), 0),
        region(2, RegionKind::User, "phase", ("a.c", 10, 20), 0),
        region(3, FUNCTION, "twice", ("a.c", 400, 410), 0),
        region(4, FUNCTION, "near", ("a.c", 420, 430), 0),
    ]);
    assert_eq!(found(&base, &new), [(2, 3, Matched::Same)]);
}

#[test]
fn the_loop_that_communicates_finds_its_like_in_a_deeper_nest() {
    let nest = |depth: u32| -> Vec<Region> {
        let mut regions = vec![region(1, FUNCTION, "mm", ("a.c", 10, 40), 0)];
        regions.extend((0..depth).map(|i| region(2 + i, LOOP, "mm", ("a.c", 11 + i, 39 - i), 1 + i)));
        let last = regions.pop().unwrap();
        regions.push(talking(last));
        program(regions)
    };
    let same = Matched::Same;
    let (three, six) = (nest(3), nest(6));
    let expected = [(1, 1, same), (2, 2, same), (3, 3, same), (4, 7, Matched::Moved)];
    assert_eq!(found(&three, &six), expected);
    assert_eq!(found(&six, &three), expected.map(|(b, n, how)| (n, b, how)));
}

#[test]
fn two_loops_after_each_other_keep_their_order_when_one_is_added() {
    let function = || region(1, FUNCTION, "f", ("a.c", 10, 90), 0);
    let base =
        program(vec![function(), region(2, LOOP, "f", ("a.c", 20, 30), 1), region(3, LOOP, "f", ("a.c", 40, 50), 1)]);
    let new = program(vec![
        function(),
        region(2, LOOP, "f", ("a.c", 12, 15), 1),
        region(3, LOOP, "f", ("a.c", 24, 34), 1),
        region(4, LOOP, "f", ("a.c", 44, 54), 1),
    ]);
    assert_eq!(found(&base, &new), [(1, 1, Matched::Same), (2, 3, Matched::Moved), (3, 4, Matched::Moved)]);
}
