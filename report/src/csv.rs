//! Tables for spreadsheets and data frames: RFC 4180, UTF-8, one header line, regions named by their number.

use crate::label;
use std::fmt::{Display, Write};
use threadtalk_crd::model::{Region, Report};

/// A table that grows row by row.
pub(crate) struct Table(String);

impl Table {
    pub fn new(columns: &str) -> Self {
        Self(format!("{columns}\r\n"))
    }

    /// The whole table.
    pub fn finish(self) -> String {
        self.0
    }

    pub fn row(&mut self, fields: &[&dyn Display]) {
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                self.0.push(',');
            }
            let text = field.to_string();
            if text.contains([',', '"', '\n', '\r']) {
                let _ = write!(self.0, "\"{}\"", text.replace('"', "\"\""));
            } else {
                self.0.push_str(&text);
            }
        }
        self.0.push_str("\r\n");
    }
}

/// An empty field where there is nothing.
pub(crate) struct Or<T>(pub Option<T>);

impl<T: Display> Display for Or<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.as_ref().map_or(Ok(()), |value| value.fmt(f))
    }
}

/// All tables, with the names of their files.
pub fn all(report: &Report) -> [(&'static str, String); 4] {
    [
        ("regions.csv", regions(report)),
        ("matrices.csv", matrices(report)),
        ("lines.csv", lines(report)),
        ("crd.csv", distances(report)),
    ]
}

/// All regions with their sums and measures.
pub fn regions(report: &Report) -> String {
    let mut table = Table::new(
        "region,kind,name,file,line,end_line,parent,threads,visits,raw,rar,total_raw,total_rar,sync_raw,sync_rar,\
         homogeneity,balance,private_bytes,crd_count,crd_median_bytes,crd_p90_bytes,crd_p99_bytes",
    );
    for region in &report.regions {
        let counts = region.counts.as_deref();
        let sum = |pick: fn(&threadtalk_crd::model::Counts) -> u64| counts.map_or(0, pick);
        let own = counts.map(|counts| &counts.own);
        let distances = own.and_then(|own| own.crd.as_ref()).map(|crd| &crd.distinct);
        table.row(&[
            &region.id,
            &region.kind.name(),
            &region.name,
            &Or(region.file.as_ref()),
            &Or(region.line),
            &Or(region.end_line),
            &Or(region.parent),
            &region.threads.len(),
            &region.visits,
            &sum(|c| c.raw.sum()),
            &sum(|c| c.rar.sum()),
            &sum(|c| c.total_raw.sum()),
            &sum(|c| c.total_rar.sum()),
            &sum(|c| c.sync_raw.sum()),
            &sum(|c| c.sync_rar.sum()),
            &Or(own.map(|own| own.homogeneity)),
            &Or(own.map(|own| own.balance)),
            &Or(own.map(|own| own.private_bytes)),
            &Or(distances.map(|d| d.count)),
            &Or(distances.and_then(|d| d.median_bytes)),
            &Or(distances.and_then(|d| d.p90_bytes)),
            &Or(distances.and_then(|d| d.p99_bytes)),
        ]);
    }
    table.finish()
}

/// Own events of each region and pair of threads, where there are any.
pub fn matrices(report: &Report) -> String {
    let mut table = Table::new("region,writer,reader,raw,rar,sync_raw,sync_rar,crr");
    for region in &report.regions {
        let Some(counts) = region.counts.as_deref() else { continue };
        for (writer, reader) in pairs(region) {
            let (w, r) = (writer as usize, reader as usize);
            table.row(&[
                &region.id,
                &region.threads[w],
                &region.threads[r],
                &counts.raw.get(w, r),
                &counts.rar.get(w, r),
                &counts.sync_raw.get(w, r),
                &counts.sync_rar.get(w, r),
                &counts.own.crr.get(w, r),
            ]);
        }
    }
    table.finish()
}

/// Pairs of threads with events of the region itself, as indices into its threads.
pub(crate) fn pairs(region: &Region) -> std::collections::BTreeSet<(u32, u32)> {
    let counts = region.counts.as_deref();
    let matrices = counts.into_iter().flat_map(|counts| [&counts.raw, &counts.rar]);
    matrices.flat_map(|matrix| matrix.entries()).map(|entry| (entry.writer, entry.reader)).collect()
}

/// Pairs of source lines of each region's own events.
pub fn lines(report: &Report) -> String {
    let mut table = Table::new("region,name,writer_file,writer_line,reader_file,reader_line,raw,rar");
    for region in &report.regions {
        for line in region.counts.iter().flat_map(|counts| &counts.lines) {
            table.row(&[
                &region.id,
                &label::name(region),
                &Or(line.writer.file.as_ref()),
                &Or(line.writer.line),
                &Or(line.reader.file.as_ref()),
                &Or(line.reader.line),
                &line.raw,
                &line.rar,
            ]);
        }
    }
    table.finish()
}

/// Histograms of reuse distances, in elements: `lo <= distance < hi`.
pub fn distances(report: &Report) -> String {
    let mut table = Table::new("region,kind,lo,hi,count");
    for region in &report.regions {
        let Some(crd) = region.counts.as_deref().and_then(|counts| counts.own.crd.as_ref()) else { continue };
        for (kind, distances) in [("distinct", &crd.distinct), ("index", &crd.index)] {
            for bucket in &distances.buckets {
                table.row(&[&region.id, &kind, &bucket.lo, &bucket.hi, &bucket.count]);
            }
        }
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_need_quotes_get_them() {
        let mut table = Table::new("a,b,c");
        table.row(&[&"operator<<, \"x\"", &Or(None::<u32>), &1.5]);
        assert_eq!(table.0, "a,b,c\r\n\"operator<<, \"\"x\"\"\",,1.5\r\n");
    }
}
