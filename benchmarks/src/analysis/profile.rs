use threadtalk_abi::module::{ModuleBases, RegionKind};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Event, Histogram, Module, Region, Site, Thread, Trace};

/// The functions of the solver that never was.
const NAMES: [&str; 3] = ["_ZN6solver4stepERNS_5StateE", "exchange", "main"];
/// Regions lie in nests of so many.
const NEST: u32 = 5;

/// A profile of `threads` threads and `regions` regions, in each of which `pairs` pairs of threads communicate (64
/// threads have 4032), with reuse distances for every tenth of them.
pub fn synthetic(threads: u32, regions: u32, pairs: u32) -> Contents {
    let ordered = u64::from(threads) * u64::from(threads - 1);
    let mut contents = Contents {
        modules: vec![module(regions)],
        threads: (0..threads).map(|id| Thread { id, ended: true, ..Thread::default() }).collect(),
        ..Contents::default()
    };
    for region in 1..=regions {
        for number in 0..pairs {
            // A prime stride meets every pair once before it meets one again.
            let pair = (u64::from(number) * 7919 + u64::from(region)) % ordered;
            let (writer, other) = ((pair / u64::from(threads - 1)) as u32, (pair % u64::from(threads - 1)) as u32);
            let reader = other + u32::from(other >= writer);
            contents.events.push(Event {
                writer,
                reader,
                writer_site: (region + number % 3) % regions + 1,
                reader_site: region,
                region,
                raw: u64::from(number % 7 + 1),
                rar: u64::from(number % 11),
                ..Event::default()
            });
            if number % 10 == 0 {
                let distances = Histogram::of((0..20).map(|i| u64::from(number + i) * 5));
                let (distinct, index) = (distances.clone(), distances);
                contents.traces.push(Trace {
                    writer,
                    reader,
                    region,
                    exact_usages: 20,
                    distinct,
                    index,
                    ..Trace::default()
                });
            }
        }
    }
    contents
}

fn module(regions: u32) -> Module {
    let region = |i: u32| Region {
        kind: if i.is_multiple_of(NEST) { RegionKind::Function } else { RegionKind::Loop },
        name: NAMES[(i / NEST) as usize % NAMES.len()].into(),
        file: "solver.c".into(),
        line: 10 * (i + 1),
        end_line: 10 * (i + 1) + 9,
        parent: (!i.is_multiple_of(NEST)).then(|| i - 1),
    };
    Module {
        bases: ModuleBases { site_base: 1, site_salt: 37, write_site_base: 1, region_base: 1, counter_base: 0 },
        name: "solver.c".into(),
        regions: (0..regions).map(region).collect(),
        sites: (0..regions)
            .map(|i| Site { region: i, file: "solver.c".into(), line: 10 * (i + 1) + 1, flags: 0 })
            .collect(),
        ..Module::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_region_has_as_many_pairs_as_were_asked_for() {
        let contents = synthetic(8, 10, 50);
        for region in 1..=10 {
            let events = contents.events.iter().filter(|e| e.region == region);
            let pairs: HashSet<_> = events.map(|e| (e.writer, e.reader)).collect();
            assert_eq!(pairs.len(), 50);
            assert!(pairs.iter().all(|(writer, reader)| writer != reader && *writer < 8 && *reader < 8));
        }
    }
}
