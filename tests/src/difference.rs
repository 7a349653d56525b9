//! The first number in which two reports of one program differ.

use crate::report::Report;
use serde_json::Value;
use std::collections::BTreeMap;

/// The matrices of a region that are compared.
const MATRICES: [&str; 6] = ["raw", "rar", "sync_raw", "sync_rar", "serial_raw", "serial_rar"];

/// What of a region does not depend on how its threads were scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Determined {
    /// Each entry of each matrix.
    Entries,
    /// True communication and reuse of each reader together: the order in which threads took a lock decides who wrote
    /// what it reads, and whether a read is its first.
    Readers,
    /// Nothing: the number of reads itself depends on who waits for whom.
    Nothing,
}

/// Where `found` differs first from `expected`, in the order of the regions, by what is determined there.
pub fn first(found: &Report, expected: &Report, determined: impl Fn(&Value) -> Determined) -> Option<String> {
    let by_id = |report: &Report| -> BTreeMap<u64, Value> {
        report.regions().iter().filter_map(|r| Some((r["id"].as_u64()?, r.clone()))).collect()
    };
    let (found, expected) = (by_id(found), by_id(expected));
    for (id, region) in &expected {
        let place = format!("region {id} ({} {} at line {})", region["kind"], region["name"], region["line"]);
        let Some(other) = found.get(id) else { return Some(format!("{place} is missing")) };
        let difference = match determined(region) {
            Determined::Entries => MATRICES.iter().find_map(|key| {
                let (found, expected) = (entries(other, key), entries(region, key));
                let differing = union(&found, &expected).find(|at| found.get(at) != expected.get(at))?;
                let value = |of: &BTreeMap<_, i64>| of.get(&differing).copied().unwrap_or(0);
                let (writer, reader) = differing;
                Some(format!("{key}[{writer}][{reader}] is {} instead of {}", value(&found), value(&expected)))
            }),
            Determined::Readers => {
                let (found, expected) = (readers(other), readers(region));
                let differing = union(&found, &expected).find(|at| found.get(at) != expected.get(at));
                differing.map(|reader| format!("thread {reader} reads {found:?} instead of {expected:?}"))
            }
            Determined::Nothing => None,
        };
        if let Some(difference) = difference {
            return Some(format!("{place}: {difference}"));
        }
    }
    let more = found.iter().find(|(id, _)| !expected.contains_key(id));
    more.map(|(id, region)| format!("region {id} ({} {}) is there in addition", region["kind"], region["name"]))
}

/// Where `found` differs first from `expected` in what one line wrote and another one read, region by region.
pub fn first_line(found: &Report, expected: &Report) -> Option<String> {
    let (found, expected) = (lines(found), lines(expected));
    let keys = union(&found, &expected);
    keys.into_iter().find(|key| found.get(key) != expected.get(key)).map(|key| {
        let (region, writer, reader) = &key;
        let value = |of: &BTreeMap<_, _>| of.get(&key).map_or("nothing".to_owned(), Value::to_string);
        format!("region {region}, line {writer} to line {reader}: {} instead of {}", value(&found), value(&expected))
    })
}

/// Where `found` differs first from `expected` in how often a thread entered a region.
pub fn first_visit(found: &Report, expected: &Report) -> Option<String> {
    let (found, expected) = (visits(found), visits(expected));
    let differing = union(&found, &expected).find(|key| found.get(key) != expected.get(key))?;
    let (region, thread) = differing;
    let value = |of: &BTreeMap<_, u64>| of.get(&differing).copied().unwrap_or(0);
    Some(format!("region {region}: thread {thread} enters it {} times instead of {}", value(&found), value(&expected)))
}

/// Visits that are not zero by region and logical thread.
fn visits(report: &Report) -> BTreeMap<(u64, u64), u64> {
    let mut all = BTreeMap::new();
    for region in report.regions() {
        let id = region["id"].as_u64().unwrap_or(0);
        let by_thread = numbers(&region["threads"]).into_iter().zip(numbers(&region["visits_by_thread"]));
        all.extend(by_thread.filter(|(_, visits)| *visits > 0).map(|(thread, visits)| ((id, thread), visits)));
    }
    all
}

/// True communication and reuse by region, writing line and reading line.
fn lines(report: &Report) -> BTreeMap<(u64, String, String), Value> {
    let mut all = BTreeMap::new();
    for region in report.regions() {
        for pair in region["lines"].as_array().into_iter().flatten() {
            let key = (
                region["id"].as_u64().unwrap_or(0),
                pair["writer"]["line"].to_string(),
                pair["reader"]["line"].to_string(),
            );
            all.insert(key, serde_json::json!({"raw": pair["raw"], "rar": pair["rar"]}));
        }
    }
    all
}

/// Keys of both maps, in order.
fn union<K: Ord + Clone, V>(a: &BTreeMap<K, V>, b: &BTreeMap<K, V>) -> impl Iterator<Item = K> + use<K, V> {
    let keys: std::collections::BTreeSet<K> = a.keys().chain(b.keys()).cloned().collect();
    keys.into_iter()
}

/// Entries that are not zero by (writer, reader), logical threads.
fn entries(region: &Value, key: &str) -> BTreeMap<(u64, u64), i64> {
    let ids = numbers(&region["threads"]);
    let rows = region[key].as_array().into_iter().flatten();
    let mut entries = BTreeMap::new();
    for (&writer, row) in ids.iter().zip(rows) {
        for (&reader, count) in ids.iter().zip(row.as_array().into_iter().flatten()) {
            if let Some(count) = count.as_i64().filter(|count| *count != 0) {
                entries.insert((writer, reader), count);
            }
        }
    }
    entries
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}

/// True communication and reuse by reader.
fn readers(region: &Value) -> BTreeMap<u64, i64> {
    let mut readers = BTreeMap::new();
    for ((_, reader), count) in entries(region, "raw").into_iter().chain(entries(region, "rar")) {
        *readers.entry(reader).or_default() += count;
    }
    readers
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(raw: Value, rar: Value) -> Report {
        let region =
            json!({"id": 3, "kind": "loop", "name": "f", "line": 7, "threads": [0, 2], "raw": raw, "rar": rar});
        Report::from_json(json!({"schema": "threadtalk.report/1", "regions": [region]}))
    }

    #[test]
    fn the_entry_is_named_by_logical_threads() {
        let expected = report(json!([[0, 5], [0, 0]]), json!([[0, 1], [4, 0]]));
        let found = report(json!([[0, 5], [0, 0]]), json!([[0, 1], [6, 0]]));
        let told = first(&found, &expected, |_| Determined::Entries).unwrap();
        assert_eq!(told, "region 3 (\"loop\" \"f\" at line 7): rar[2][0] is 6 instead of 4");
        assert_eq!(first(&found, &expected, |_| Determined::Nothing), None);
        assert_eq!(first(&expected, &expected, |_| Determined::Entries), None);
    }

    #[test]
    fn readers_may_read_others_but_not_more() {
        let expected = report(json!([[0, 5], [2, 0]]), json!([[0, 1], [4, 0]]));
        let other_writer = report(json!([[2, 6], [0, 0]]), json!([[4, 0], [0, 0]]));
        assert_eq!(first(&other_writer, &expected, |_| Determined::Readers), None);
        let more = report(json!([[0, 7], [2, 0]]), json!([[0, 0], [4, 0]]));
        assert!(first(&more, &expected, |_| Determined::Readers).unwrap().contains("thread 2 reads"));
    }

    #[test]
    fn a_matrix_that_is_left_out_is_zero() {
        let region = json!({"id": 3, "kind": "loop", "name": "f", "line": 7, "threads": [0, 2]});
        let nothing = Report::from_json(json!({"regions": [region]}));
        let zero = report(json!([[0, 0], [0, 0]]), json!([[0, 0], [0, 0]]));
        assert_eq!(first(&nothing, &zero, |_| Determined::Entries), None);
        let some = report(json!([[0, 0], [1, 0]]), Value::Null);
        assert!(first(&nothing, &some, |_| Determined::Entries).unwrap().contains("raw[2][0] is 0 instead of 1"));
    }

    #[test]
    fn lines_are_told_by_region() {
        let of = |line: u64| {
            let pair = json!({"writer": {"line": line}, "reader": {"line": 9}, "raw": 5, "rar": 2});
            Report::from_json(json!({"regions": [{"id": 3, "lines": [pair]}]}))
        };
        let told = first_line(&of(7), &of(8)).unwrap();
        assert_eq!(told, "region 3, line 7 to line 9: {\"rar\":2,\"raw\":5} instead of nothing");
        assert_eq!(first_line(&of(8), &of(8)), None);
    }

    #[test]
    fn visits_are_told_by_region_and_thread() {
        let of = |threads: Value, visits: Value| {
            Report::from_json(json!({"regions": [{"id": 3, "threads": threads, "visits_by_thread": visits}]}))
        };
        let expected = of(json!([0, 1, 2]), json!([0, 4, 4]));
        let told = first_visit(&of(json!([0, 2]), json!([0, 4])), &expected).unwrap();
        assert_eq!(told, "region 3: thread 1 enters it 0 times instead of 4");
        assert_eq!(first_visit(&of(json!([1, 2]), json!([4, 4])), &expected), None);
    }

    #[test]
    fn a_missing_region_is_a_difference_either_way() {
        let none = Report::from_json(json!({"regions": []}));
        let some = report(Value::Null, Value::Null);
        assert!(first(&none, &some, |_| Determined::Entries).unwrap().ends_with("is missing"));
        assert!(first(&some, &none, |_| Determined::Entries).unwrap().ends_with("is there in addition"));
    }
}
