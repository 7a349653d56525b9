//! Columnar tables for DuckDB, DataFusion, Spark, pandas: Apache Parquet, a file for each table.
//!
//! Columns are optional 64-bit integers, doubles, booleans and UTF-8 strings, so that files of many runs have one
//! schema and can be read as one table. Counts beyond the largest integer are that integer.

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use threadtalk_crd::model::{Region, Report};
use threadtalk_profile::Profile;

/// The values of a column; none where there is nothing.
enum Values {
    Integer(Vec<Option<i64>>),
    Double(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
    Text(Vec<Option<ByteArray>>),
}

struct Table {
    name: &'static str,
    columns: Vec<(&'static str, Values)>,
}

/// File names and contents: events by pair of threads and pair of lines, regions, matrices, threads, reuse distances,
/// phases.
pub fn tables(profile: &Profile, report: &Report) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("events.parquet", events(profile).encode()),
        ("regions.parquet", regions(report).encode()),
        ("matrices.parquet", matrices(report).encode()),
        ("threads.parquet", threads(report).encode()),
        ("distances.parquet", distances(report).encode()),
        ("phases.parquet", phases(report).encode()),
    ]
}

impl Table {
    fn new(name: &'static str) -> Self {
        Self { name, columns: Vec::new() }
    }

    fn integers<N: TryInto<i64>>(mut self, name: &'static str, values: impl Iterator<Item = Option<N>>) -> Self {
        let largest = |n: N| n.try_into().unwrap_or(i64::MAX);
        self.columns.push((name, Values::Integer(values.map(|v| v.map(largest)).collect())));
        self
    }

    fn doubles(mut self, name: &'static str, values: impl Iterator<Item = Option<f64>>) -> Self {
        self.columns.push((name, Values::Double(values.collect())));
        self
    }

    fn flags(mut self, name: &'static str, values: impl Iterator<Item = bool>) -> Self {
        self.columns.push((name, Values::Flag(values.map(Some).collect())));
        self
    }

    fn texts<'a>(mut self, name: &'static str, values: impl Iterator<Item = Option<&'a str>>) -> Self {
        let bytes = |text: &str| ByteArray::from(text.as_bytes().to_vec());
        self.columns.push((name, Values::Text(values.map(|v| v.map(bytes)).collect())));
        self
    }

    /// The file: one row group.
    fn encode(&self) -> Vec<u8> {
        let mut schema = format!("message {} {{\n", self.name);
        for (name, values) in &self.columns {
            let _ = match values {
                Values::Integer(_) => writeln!(schema, "optional int64 {name};"),
                Values::Double(_) => writeln!(schema, "optional double {name};"),
                Values::Flag(_) => writeln!(schema, "optional boolean {name};"),
                Values::Text(_) => writeln!(schema, "optional binary {name} (STRING);"),
            };
        }
        schema.push('}');
        let schema = Arc::new(parse_message_type(&schema).expect("the schema is well formed"));
        let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
        const MEMORY: &str = "memory takes what is written";
        let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).expect(MEMORY);
        let mut group = file.next_row_group().expect(MEMORY);
        for (_, values) in &self.columns {
            let column = group.next_column().expect(MEMORY).expect("a column for each of the schema's");
            match values {
                Values::Integer(values) => put::<Int64Type>(column, values),
                Values::Double(values) => put::<DoubleType>(column, values),
                Values::Flag(values) => put::<BoolType>(column, values),
                Values::Text(values) => put::<ByteArrayType>(column, values),
            }
        }
        group.close().expect(MEMORY);
        file.into_inner().expect(MEMORY)
    }
}

fn put<T: DataType>(mut column: SerializedColumnWriter<'_>, values: &[Option<T::T>]) {
    let levels: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
    let present: Vec<T::T> = values.iter().flatten().cloned().collect();
    column.typed::<T>().write_batch(&present, Some(&levels), None).expect("memory takes what is written");
    column.close().expect("memory takes what is written");
}

fn known(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// The records of the profile, one row each.
fn events(profile: &Profile) -> Table {
    let events: Vec<_> = profile.events().collect();
    let rows = || events.iter();
    let thread = |id: u32| {
        let at = profile.threads().binary_search_by_key(&id, |t| t.id).ok()?;
        known(&profile.threads()[at].name)
    };
    let site = |number: u32| profile.site(number);
    let region = |number: u32| profile.region(number);
    Table::new("events")
        .texts("region", rows().map(|e| region(e.region).and_then(|r| known(&r.name))))
        .texts("region_kind", rows().map(|e| region(e.region).map(|r| r.kind.name())))
        .texts("region_file", rows().map(|e| region(e.region).and_then(|r| known(&r.file))))
        .integers("region_line", rows().map(|e| region(e.region).map(|r| r.line).filter(|l| *l > 0)))
        .integers("writer", rows().map(|e| Some(e.writer)))
        .integers("reader", rows().map(|e| Some(e.reader)))
        .texts("writer_name", rows().map(|e| thread(e.writer)))
        .texts("reader_name", rows().map(|e| thread(e.reader)))
        .texts("writer_file", rows().map(|e| site(e.writer_site).and_then(|s| known(&s.file))))
        .integers("writer_line", rows().map(|e| site(e.writer_site).map(|s| s.line).filter(|l| *l > 0)))
        .texts("reader_file", rows().map(|e| site(e.reader_site).and_then(|s| known(&s.file))))
        .integers("reader_line", rows().map(|e| site(e.reader_site).map(|s| s.line).filter(|l| *l > 0)))
        .integers("raw", rows().map(|e| Some(e.raw)))
        .integers("rar", rows().map(|e| Some(e.rar)))
        .flags("serial", rows().map(|e| e.is_serial()))
        .flags("sync", rows().map(|e| e.is_sync()))
}

fn regions(report: &Report) -> Table {
    let rows = || report.regions.iter();
    let distances = |r: &Region| {
        let crd = r.counts.as_ref().and_then(|c| c.own.crd.as_ref());
        crd.map(|crd| (crd.distinct.median_bytes, crd.distinct.p90_bytes))
    };
    Table::new("regions")
        .integers("region", rows().map(|r| Some(r.id)))
        .texts("kind", rows().map(|r| Some(r.kind.name())))
        .texts("name", rows().map(|r| known(&r.name)))
        .texts("file", rows().map(|r| r.file.as_deref()))
        .integers("line", rows().map(|r| r.line))
        .integers("end_line", rows().map(|r| r.end_line))
        .integers("parent", rows().map(|r| r.parent))
        .integers("visits", rows().map(|r| Some(r.visits)))
        .integers("raw", rows().map(|r| r.counts.as_ref().map(|c| c.raw.sum())))
        .integers("rar", rows().map(|r| r.counts.as_ref().map(|c| c.rar.sum())))
        .integers("total_raw", rows().map(|r| Some(r.total_raw())))
        .integers("total_rar", rows().map(|r| Some(r.total_rar())))
        .doubles("homogeneity", rows().map(|r| r.counts.as_ref().map(|c| c.own.homogeneity)))
        .doubles("balance", rows().map(|r| r.counts.as_ref().map(|c| c.own.balance)))
        .doubles("crd_median_bytes", rows().map(|r| distances(r).and_then(|d| d.0)))
        .doubles("crd_p90_bytes", rows().map(|r| distances(r).and_then(|d| d.1)))
}

/// Own events of regions by pair of threads.
fn matrices(report: &Report) -> Table {
    let mut cells = Vec::new();
    for region in &report.regions {
        let Some(counts) = region.counts.as_deref() else { continue };
        for (writer, reader) in crate::csv::pairs(region) {
            let (w, r) = (writer as usize, reader as usize);
            cells.push((region.id, region.threads[w], region.threads[r], counts.raw.get(w, r), counts.rar.get(w, r)));
        }
    }
    Table::new("matrices")
        .integers("region", cells.iter().map(|c| Some(c.0)))
        .integers("writer", cells.iter().map(|c| Some(c.1)))
        .integers("reader", cells.iter().map(|c| Some(c.2)))
        .integers("raw", cells.iter().map(|c| Some(c.3)))
        .integers("rar", cells.iter().map(|c| Some(c.4)))
}

fn threads(report: &Report) -> Table {
    let rows = || report.threads.iter();
    Table::new("threads")
        .integers("thread", rows().map(|t| Some(t.id)))
        .texts("name", rows().map(|t| known(&t.name)))
        .integers("created_by", rows().map(|t| t.created_by))
        .doubles("start_s", rows().map(|t| Some(t.start_s)))
        .doubles("end_s", rows().map(|t| t.end_s))
        .doubles("cpu_s", rows().map(|t| t.cpu_s))
        .flags("openmp", rows().map(|t| t.openmp))
}

/// Histograms of reuse distances in elements: `lo <= distance < hi`.
fn distances(report: &Report) -> Table {
    let mut buckets = Vec::new();
    for region in &report.regions {
        let Some(crd) = region.counts.as_deref().and_then(|counts| counts.own.crd.as_ref()) else { continue };
        for (kind, distances) in [("distinct", &crd.distinct), ("index", &crd.index)] {
            buckets.extend(distances.buckets.iter().map(|bucket| (region.id, kind, bucket)));
        }
    }
    Table::new("distances")
        .integers("region", buckets.iter().map(|b| Some(b.0)))
        .texts("kind", buckets.iter().map(|b| Some(b.1)))
        .integers("lo", buckets.iter().map(|b| Some(b.2.lo)))
        .integers("hi", buckets.iter().map(|b| Some(b.2.hi)))
        .doubles("count", buckets.iter().map(|b| Some(b.2.count)))
}

/// Matrices of the phases.
fn phases(report: &Report) -> Table {
    let mut cells: BTreeMap<(usize, u32, u32), [u64; 2]> = BTreeMap::new();
    let phases = || report.phases.iter().flat_map(|p| &p.phases);
    for (number, phase) in phases().enumerate() {
        for (which, matrix) in [&phase.raw, &phase.rar].into_iter().enumerate() {
            for e in matrix.entries() {
                cells.entry((number, e.writer, e.reader)).or_default()[which] = e.value;
            }
        }
    }
    let all: Vec<_> = phases().collect();
    let rows =
        || cells.iter().map(|((number, w, r), counts)| (*number, all[*number], *w as usize, *r as usize, *counts));
    Table::new("phases")
        .integers("phase", rows().map(|c| i64::try_from(c.0).ok()))
        .integers("pattern", rows().map(|c| i64::try_from(c.1.pattern).ok()))
        .doubles("from_s", rows().map(|c| Some(c.1.from_s)))
        .doubles("to_s", rows().map(|c| Some(c.1.to_s)))
        .integers("writer", rows().map(|c| Some(c.1.threads[c.2])))
        .integers("reader", rows().map(|c| Some(c.1.threads[c.3])))
        .integers("raw", rows().map(|c| Some(c.4[0])))
        .integers("rar", rows().map(|c| Some(c.4[1])))
}
