//! A profile's records as text, one line each, fields separated by tabs.

use std::fmt::Write;
use threadtalk_profile::{Histogram, Profile, buckets};

/// All records.
pub fn text(profile: &Profile) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(profile, &mut out);
    out
}

fn write(profile: &Profile, out: &mut String) -> std::fmt::Result {
    writeln!(out, "header\t{:?}", profile.header())?;
    for (key, value) in profile.meta() {
        writeln!(out, "meta\t{key}\t{value}")?;
    }
    for module in profile.modules() {
        writeln!(out, "module\t{}\t{:?}", module.name, module.bases)?;
        for (number, region) in (module.bases.region_base..).zip(&module.regions) {
            let parent = region.parent.map_or("-".to_string(), |p| (module.bases.region_base + p).to_string());
            let (kind, name, file) = (region.kind.name(), &region.name, &region.file);
            writeln!(out, "region\t{number}\t{kind}\t{name}\t{file}:{}-{}\tin {parent}", region.line, region.end_line)?;
        }
        for (number, site) in (module.bases.site_base..).zip(&module.sites) {
            let region = module.bases.region_base + site.region;
            writeln!(out, "site\t{number}\t{}:{}\tregion {region}\tflags {}", site.file, site.line, site.flags)?;
        }
    }
    for region in profile.user_regions() {
        writeln!(out, "user region\t{}\t{}\tin {:?}", region.id, region.name, region.parent)?;
    }
    for thread in profile.threads() {
        writeln!(out, "thread\t{thread:?}")?;
    }
    for e in profile.events() {
        writeln!(
            out,
            "event\tthread {} -> {}\tsite {} -> {}\tregion {}\tcontext {}\tflags {}\traw {}\trar {}",
            e.writer, e.reader, e.writer_site, e.reader_site, e.region, e.context, e.flags, e.raw, e.rar
        )?;
    }
    for visit in profile.visits() {
        writeln!(out, "visits\tthread {}\tregion {}\t{}", visit.thread, visit.region, visit.count)?;
    }
    for private in profile.private_bytes() {
        writeln!(out, "private\tthread {}\tregion {}\t{} bytes", private.writer, private.region, private.bytes)?;
    }
    for t in profile.traces() {
        writeln!(
            out,
            "trace\tthread {} -> {}\tregion {}\tusages {}\telements {}\tsampled {}\tsamples {}\tabandoned {}",
            t.writer, t.reader, t.region, t.exact_usages, t.exact_elements, t.is_sampled, t.samples, t.abandoned
        )?;
        for (name, histogram) in [("distinct", &t.distinct), ("index", &t.index), ("sampled", &t.sampled)] {
            write_histogram(name, histogram, out)?;
        }
        for (length, begun) in t.begun.buckets() {
            let open = t.open.buckets().iter().find(|(other, _)| other == length).map_or(0, |(_, open)| *open);
            writeln!(out, "\tlength {length}\tbegun inside {begun}\topen at the end {open}")?;
        }
    }
    Ok(())
}

fn write_histogram(name: &str, histogram: &Histogram, out: &mut String) -> std::fmt::Result {
    if histogram.is_empty() {
        return Ok(());
    }
    write!(out, "\t{name}")?;
    for (bucket, count) in histogram.buckets() {
        write!(out, "\t{}:{count}", buckets::lower_bound(usize::from(*bucket)))?;
    }
    writeln!(out)
}
