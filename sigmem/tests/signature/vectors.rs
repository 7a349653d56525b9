//! The worked traces: every number as worked out by hand, from the oracle and from the signature.

use crate::driver::Driver;
use crate::memory::EXACT;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use threadtalk_sigmem::oracle::record::Matrix;
use threadtalk_sigmem::oracle::{Op, Oracle, Pair, Record, Region, Step, distance};

/// Names of places and regions that the traces use, as numbers.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn number(&mut self, name: &str) -> u64 {
        let known = self.0.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        }) as u64
    }
}

struct Vector {
    name: String,
    granule: u64,
    steps: Vec<Step>,
    places: Names,
    /// By region: expected numbers.
    regions: Vec<(Region, Value)>,
}

fn vectors() -> Vec<Vector> {
    let file: Map<String, Value> = serde_json::from_str(include_str!("vectors.json")).expect("vectors.json");
    file.into_iter().map(|(name, vector)| parse(name, &vector)).collect()
}

fn parse(name: String, vector: &Value) -> Vector {
    let granule = vector["granule"].as_u64().expect("granule");
    let mut places = Names::default();
    // Region 0 is the whole program.
    let mut regions = Names(vec![String::new()]);
    let trace = vector["trace"].as_array().expect("trace");
    let steps = trace.iter().map(|step| parse_step(step, granule, &mut places, &mut regions)).collect();
    let expected = vector["regions"].as_object().expect("regions");
    let expected = expected.iter().map(|(region, numbers)| (regions.number(region) as Region, numbers.clone()));
    Vector { name, granule, steps, regions: expected.collect(), places }
}

fn parse_step(step: &Value, granule: u64, places: &mut Names, regions: &mut Names) -> Step {
    let thread = step[0].as_u64().expect("thread") as u32;
    let number = |i: usize| step[i].as_u64().unwrap_or_else(|| panic!("field {i} of {step}"));
    let (at, bytes) = match &step[2] {
        Value::String(name) => (places.number(name), granule),
        _ => (number(2), step[3].as_u64().unwrap_or(granule)),
    };
    let op = match step[1].as_str().expect("operation") {
        "R" => Op::Read { at, bytes },
        "W" => Op::Write { at, bytes },
        "RMW" => Op::ReadModifyWrite { at, bytes },
        "CASF" => Op::FailedExchange { at, bytes },
        "MCPY" => Op::Copy { to: at, from: number(3), bytes: number(4) },
        "ALLOC" => Op::Allocate { at, bytes },
        "FREE" => Op::Free { at, bytes },
        "REALLOC" => Op::Reallocate { old: at, old_bytes: bytes, new: number(4), new_bytes: number(5) },
        "ENTER" => Op::Enter(regions.number(step[2].as_str().expect("region")) as Region),
        "EXIT" => Op::Exit(regions.number(step[2].as_str().expect("region")) as Region),
        other => panic!("operation {other}"),
    };
    Step { thread, op }
}

fn matrix(threads: &Value, rows: &Value) -> Matrix {
    let threads: Vec<u32> =
        threads.as_array().expect("threads").iter().map(|t| t.as_u64().expect("id") as u32).collect();
    let mut matrix = Matrix::new();
    for (writer, row) in threads.iter().zip(rows.as_array().expect("rows")) {
        for (reader, count) in threads.iter().zip(row.as_array().expect("row")) {
            if let Some(count @ 1..) = count.as_u64() {
                matrix.insert(Pair { writer: *writer, reader: *reader }, count);
            }
        }
    }
    matrix
}

fn by_pair<T>(value: &Value, convert: impl Fn(&Value) -> T) -> BTreeMap<Pair, T> {
    let entries = value.as_object().expect("pairs").iter();
    let parsed = entries.map(|(pair, value)| {
        let (writer, reader) = pair.split_once("->").expect("a pair");
        let id = |text: &str| text.parse().expect("an id");
        (Pair { writer: id(writer), reader: id(reader) }, convert(value))
    });
    parsed.collect()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().expect("numbers").iter().map(|n| n.as_u64().expect("a number")).collect()
}

fn check(vector: &Vector, record: &Record, who: &str) {
    for (region, expected) in &vector.regions {
        let context = format!("{who}, {}, region {region}", vector.name);
        let threads = &expected["threads"];
        let (raw, rar) = (record.raw(*region), record.rar(*region));
        assert_eq!(raw, matrix(threads, &expected["RaW"]), "{context}: RaW");
        assert_eq!(rar, matrix(threads, &expected["RaR"]), "{context}: RaR");

        let sequences = by_pair(&expected["seq"], |text| text.as_str().expect("a sequence").to_owned());
        assert!(raw.keys().chain(rar.keys()).all(|pair| sequences.contains_key(pair)), "{context}: pairs");
        let distinct = by_pair(&expected["CRD_distinct"], numbers);
        let index = by_pair(&expected["CRD_index"], numbers);
        for (pair, sequence) in sequences {
            let usages = record.usages(*region, pair);
            let name = |element: u64| match vector.places.0.get(element as usize) {
                Some(name) => name.clone(),
                None => element.to_string(),
            };
            let marked =
                usages.iter().map(|(element, reuse)| format!("{}{}", if *reuse { "+" } else { "" }, name(*element)));
            assert_eq!(marked.collect::<Vec<_>>().join(" "), sequence, "{context}: usages of {pair:?}");
            let elements: Vec<u64> = usages.iter().map(|(element, _)| *element).collect();
            assert_eq!(distance::distinct(&elements), distinct[&pair], "{context}: distinct distances of {pair:?}");
            assert_eq!(distance::index(&elements), index[&pair], "{context}: index distances of {pair:?}");
        }
    }
}

#[test]
fn the_oracle_finds_the_worked_numbers() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 19);
    for vector in vectors {
        let mut oracle = Oracle::new(vector.granule);
        for step in &vector.steps {
            oracle.step(step);
        }
        check(&vector, oracle.record(), "oracle");
    }
}

#[test]
fn the_signature_finds_the_worked_numbers() {
    for vector in vectors() {
        let mut driver = Driver::new(EXACT, vector.granule);
        for step in &vector.steps {
            driver.step(step);
        }
        check(&vector, &driver.record, "signature");
    }
}
