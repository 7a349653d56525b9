//! Sections with causes, regions and blocks for spreadsheets.

use super::View;
use crate::csv::{Or, Table};

/// A row for each cause; sections without one have a row without.
pub fn causes(view: View) -> String {
    let mut table = Table::new(
        "section,kind,file,line,end_file,end_line,instances,threads,imbalance_percent,imbalance_time,cause_kind,event,\
         cause_file,cause_line,function,score,p",
    );
    for (number, s) in view.imbalance.sections.iter().enumerate() {
        let first = s.causes.iter().map(Some).chain(s.causes.is_empty().then_some(None));
        for cause in first {
            table.row(&[
                &(number + 1),
                &s.kind,
                &Or(s.file.as_ref()),
                &Or(s.line),
                &Or(s.end_file.as_ref()),
                &Or(s.end_line),
                &s.instances,
                &s.threads,
                &s.imbalance_percent,
                &s.imbalance_time,
                &Or(cause.map(|c| c.kind)),
                &Or(cause.map(|c| c.event)),
                &Or(cause.and_then(|c| c.file.as_ref())),
                &Or(cause.and_then(|c| c.line)),
                &Or(cause.map(|c| &c.function)),
                &Or(cause.map(|c| c.score)),
                &Or(cause.map(|c| c.p)),
            ]);
        }
    }
    table.finish()
}

/// A row for each region, metric and scope.
pub fn regions(view: View) -> String {
    let mut table = Table::new(
        "region,kind,name,file,line,scope,metric,threads,avg,min,min_thread,median,median_thread,max,max_thread,sigma,\
         imbalance_time,imbalance_percent",
    );
    for r in &view.imbalance.regions {
        for (scope, metrics) in [("exclusive", &r.exclusive), ("inclusive", &r.inclusive)] {
            for (metric, f) in metrics {
                let s = &f.spread;
                table.row(&[
                    &r.id,
                    &r.kind,
                    &r.name,
                    &Or(r.file.as_ref()),
                    &Or(r.line),
                    &scope,
                    metric,
                    &f.threads,
                    &s.avg,
                    &s.min,
                    &s.min_thread,
                    &s.median,
                    &s.median_thread,
                    &s.max,
                    &s.max_thread,
                    &s.sigma,
                    &s.imbalance.imbalance_time,
                    &s.imbalance.imbalance_percent,
                ]);
            }
        }
    }
    table.finish()
}

/// A row for each block and number of threads at which it ran.
pub fn blocks(view: View) -> String {
    let mut table = Table::new("block,function,file,line,end_line,region,class,threads,executions");
    let blocks = view.imbalance.parallelism.iter().flat_map(|p| &p.blocks);
    for (number, b) in blocks.enumerate() {
        for (at, count) in b.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let class = format!("{:?}", b.class).to_lowercase();
            let level = at + 1;
            table.row(&[
                &number,
                &b.function,
                &Or(b.file.as_ref()),
                &Or(b.line),
                &Or(b.end_line),
                &b.region,
                &class,
                &level,
                count,
            ]);
        }
    }
    table.finish()
}
