//! The options of a run: one table gives the parser, the ranges and `THREADTALK_OPTIONS=help=1`.

use super::binding;
use super::message::Line;
use threadtalk_profile::counters;

/// What a run does. Sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Cells for all touched memory instead of a fixed budget.
    pub exact: bool,
    /// Budget of the hashed signature.
    pub signature_bytes: u64,
    /// A [`threadtalk_profile::layout::CrdMode`] as a number.
    pub crd: u64,
    /// Budget of each thread's reuse distance tables.
    pub crd_bytes: u64,
    /// Budget of each thread's event records.
    pub records_bytes: u64,
    /// Usages of a trace that are measured exactly before sampling begins, where there are no more than 2 in its
    /// region.
    pub crd_exact_usages: u64,
    /// Least sampling period.
    pub crd_period: u64,
    /// Milliseconds between two records of communication over time; 0 = at barriers only; [`crate::phases::OFF`] =
    /// none.
    pub phases: u64,
    /// Budget of these records.
    pub phases_bytes: u64,
    /// Bits of a site in a fresh id; 0 = chosen from the number of sites.
    pub site_bits: u64,
    /// Control flow counts by the number of threads that do not wait, instead of that of all.
    pub effective: bool,
    /// Highest number of threads that is told apart.
    pub levels: u64,
    /// Instances of a parallel section that are all recorded; 0 = none.
    pub instances: u64,
    /// Budget of the counts of instances.
    pub instance_bytes: u64,
    /// Size of the modelled first-level cache; 0 = this machine's, here and below.
    pub l1_bytes: u64,
    /// Its ways.
    pub l1_ways: u64,
    /// Size of a thread's share of the last level.
    pub llc_bytes: u64,
    /// Its ways.
    pub llc_ways: u64,
    /// Bytes of a line.
    pub cache_line: u64,
    /// Processors that threads are bound to, as many as the list names; 0 = threads are not bound. The list itself:
    /// [`bind_list`].
    pub bind: u64,
    /// Events that the processor and the kernel count, a bit for each.
    pub counters: u64,
    /// One true communication in so many is looked up by its address; 0 = none.
    pub objects: u64,
    /// Print nothing at the end.
    pub quiet: bool,
    /// Count nothing until `threadtalk_start` is called.
    pub paused: bool,
    /// Huge pages for the cells.
    pub huge_pages: bool,
    /// Print the table of options.
    pub help: bool,
}

impl Options {
    /// The defaults of the table.
    pub const fn defaults() -> Self {
        Self {
            exact: false,
            signature_bytes: 256 << 20,
            crd: 1,
            crd_bytes: 64 << 20,
            records_bytes: 64 << 20,
            crd_exact_usages: 4096,
            crd_period: 16,
            phases: 10,
            phases_bytes: 8 << 20,
            site_bits: 0,
            effective: false,
            levels: 256,
            instances: 64,
            instance_bytes: 64 << 20,
            l1_bytes: 0,
            l1_ways: 0,
            llc_bytes: 0,
            llc_ways: 0,
            cache_line: 0,
            bind: 0,
            counters: 0,
            objects: 64,
            quiet: false,
            paused: false,
            huge_pages: true,
            help: false,
        }
    }
}

enum Range {
    /// One of these words, counted from 0.
    Words(&'static [&'static [u8]]),
    /// A number between these; suffixes K, M, G.
    Number(u64, u64),
    /// A list of processors; its value is their number.
    Processors,
    /// A list of events that are counted; its value has a bit for each.
    Events,
    /// One of these words, which stands for a number, or a number up to the last one.
    WordsOrNumber(&'static [(&'static [u8], u64)], u64),
}

struct Entry {
    name: &'static [u8],
    range: Range,
    help: &'static [u8],
    set: fn(&mut Options, u64),
    get: fn(&Options) -> u64,
}

const SWITCH: Range = Range::Number(0, 1);

#[rustfmt::skip]
const TABLE: &[Entry] = &[
    Entry { name: b"mode", range: Range::Words(&[b"hashed", b"exact"]), help: b"signature with a fixed budget, or cells for all touched memory",
        set: |o, v| o.exact = v == 1, get: |o| o.exact as u64 },
    Entry { name: b"signature_bytes", range: Range::Number(1 << 20, 1 << 40), help: b"budget of the hashed signature",
        set: |o, v| o.signature_bytes = v, get: |o| o.signature_bytes },
    Entry { name: b"crd", range: Range::Words(&[b"off", b"auto", b"exact"]), help: b"communication reuse distances: none, exact then sampled, all exact",
        set: |o, v| o.crd = v, get: |o| o.crd },
    Entry { name: b"crd_bytes", range: Range::Number(1 << 16, 1 << 34), help: b"budget of each thread's reuse distance tables, and of the histograms that they leave in the profile",
        set: |o, v| o.crd_bytes = v, get: |o| o.crd_bytes },
    Entry { name: b"records_bytes", range: Range::Number(1 << 16, 1 << 34), help: b"budget of each thread's event records and the table that finds them; then lines of writers are dropped",
        set: |o, v| o.records_bytes = v, get: |o| o.records_bytes },
    Entry { name: b"crd_exact_usages", range: Range::Number(0, 1 << 20), help: b"usages of a trace measured exactly before sampling begins (crd=auto); more than 2 of a region share",
        set: |o, v| o.crd_exact_usages = v, get: |o| o.crd_exact_usages },
    Entry { name: b"crd_period", range: Range::Number(2, 1 << 20), help: b"least number of events between two sampled ones (crd=auto)",
        set: |o, v| o.crd_period = v, get: |o| o.crd_period },
    Entry { name: b"phases", range: Range::WordsOrNumber(&[(b"off", crate::phases::OFF), (b"on", 10)], 60_000), help: b"communication over time: milliseconds of a slice, 0 = at barriers only",
        set: |o, v| o.phases = v, get: |o| o.phases },
    Entry { name: b"phases_bytes", range: Range::Number(1 << 12, 1 << 34), help: b"budget of the records of communication over time; slices get longer as it is used up",
        set: |o, v| o.phases_bytes = v, get: |o| o.phases_bytes },
    Entry { name: b"site_bits", range: Range::Number(0, 24), help: b"bits of an id that hold the writing line, the others hold the thread; 0 = chosen from the program",
        set: |o, v| o.site_bits = v, get: |o| o.site_bits },
    Entry { name: b"parallelism", range: Range::Words(&[b"nominal", b"effective"]), help: b"control flow counts by the number of threads, or of those that do not wait",
        set: |o, v| o.effective = v == 1, get: |o| o.effective as u64 },
    Entry { name: b"levels", range: Range::Number(1, 256), help: b"highest number of threads that control flow tells apart",
        set: |o, v| o.levels = v, get: |o| o.levels },
    Entry { name: b"instances", range: Range::Number(0, 1 << 20), help: b"instances of a parallel section recorded one by one, before they are sampled (of programs with more than 4096 counters fewer); 0 = none",
        set: |o, v| o.instances = v, get: |o| o.instances },
    Entry { name: b"instance_bytes", range: Range::Number(0, 1 << 34), help: b"budget of the control flow counts of instances",
        set: |o, v| o.instance_bytes = v, get: |o| o.instance_bytes },
    Entry { name: b"l1_bytes", range: Range::Number(0, 1 << 30), help: b"modelled first-level cache of programs compiled with --threadtalk=cache; 0 = this machine's",
        set: |o, v| o.l1_bytes = v, get: |o| o.l1_bytes },
    Entry { name: b"l1_ways", range: Range::Number(0, 1024), help: b"its ways; 0 = this machine's",
        set: |o, v| o.l1_ways = v, get: |o| o.l1_ways },
    Entry { name: b"llc_bytes", range: Range::Number(0, 1 << 36), help: b"a thread's share of the last-level cache; 0 = this machine's",
        set: |o, v| o.llc_bytes = v, get: |o| o.llc_bytes },
    Entry { name: b"llc_ways", range: Range::Number(0, 1024), help: b"its ways; 0 = this machine's",
        set: |o, v| o.llc_ways = v, get: |o| o.llc_ways },
    Entry { name: b"cache_line", range: Range::Number(0, 4096), help: b"bytes of a line of both; 0 = this machine's",
        set: |o, v| o.cache_line = v, get: |o| o.cache_line },
    Entry { name: b"huge_pages", range: SWITCH, help: b"ask for huge pages for the signature",
        set: |o, v| o.huge_pages = v == 1, get: |o| o.huge_pages as u64 },
    Entry { name: b"paused", range: SWITCH, help: b"count nothing until threadtalk_start() is called",
        set: |o, v| o.paused = v == 1, get: |o| o.paused as u64 },
    Entry { name: b"bind", range: Range::Processors, help: b"processors that thread 0, 1, 2, ... are bound to; after the last it begins again",
        set: |o, v| o.bind = v, get: |o| o.bind },
    Entry { name: b"counters", range: Range::Events, help: b"events of each section that the processor and the kernel count, if they do; a descriptor each in each thread",
        set: |o, v| o.counters = v, get: |o| o.counters },
    Entry { name: b"objects", range: Range::Number(0, 1 << 16), help: b"attribute one true communication in so many to the allocation of its memory, fewer where a thread has had thousands; 0 = none, 1 = all",
        set: |o, v| o.objects = v, get: |o| o.objects },
    Entry { name: b"quiet", range: SWITCH, help: b"print nothing at the end",
        set: |o, v| o.quiet = v == 1, get: |o| o.quiet as u64 },
    Entry { name: b"help", range: SWITCH, help: b"print this table",
        set: |o, v| o.help = v == 1, get: |o| o.help as u64 },
];

/// Why an item of the text was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// No option has this name.
    Unknown,
    /// The value is no number, no word of the list, or out of range.
    Value,
}

/// Parses `a=1:b=2`. Items that are not understood are handed to `complain` and skipped: a typing error must not
/// stop the program.
pub fn parse<'t>(text: &'t [u8], mut complain: impl FnMut(&'t [u8], Mistake)) -> Options {
    let mut options = Options::defaults();
    for item in text.split(|&b| b == b':').filter(|item| !item.is_empty()) {
        let at = item.iter().position(|&b| b == b'=').unwrap_or(item.len());
        let value = item.get(at + 1..).unwrap_or(b"1");
        match TABLE.iter().find(|e| Some(e.name) == item.get(..at)) {
            None => complain(item, Mistake::Unknown),
            Some(entry) => match parse_value(&entry.range, value) {
                Some(v) => (entry.set)(&mut options, v),
                None => complain(item, Mistake::Value),
            },
        }
    }
    options
}

/// The list of processors in the text of the options: the last that [`parse`] took.
pub fn bind_list(text: &[u8]) -> Option<&[u8]> {
    let lists = text.split(|&b| b == b':').filter_map(|item| item.strip_prefix(b"bind="));
    lists.rev().find(|list| binding::count(list).is_some())
}

fn parse_value(range: &Range, text: &[u8]) -> Option<u64> {
    match range {
        Range::Words(words) => words.iter().position(|w| *w == text).map(|i| i as u64),
        Range::WordsOrNumber(words, most) => match words.iter().find(|(word, _)| *word == text) {
            Some((_, number)) => Some(*number),
            None => parse_value(&Range::Number(0, *most), text),
        },
        Range::Number(least, most) => {
            let (digits, unit) = match text.split_last()? {
                (b'K' | b'k', rest) => (rest, 1 << 10),
                (b'M' | b'm', rest) => (rest, 1 << 20),
                (b'G' | b'g', rest) => (rest, 1u64 << 30),
                _ => (text, 1),
            };
            let number: u64 = core::str::from_utf8(digits).ok()?.parse().ok()?;
            number.checked_mul(unit).filter(|n| (least..=most).contains(&n))
        }
        Range::Processors => binding::count(text),
        Range::Events => counters::parse(text),
    }
}

/// Prints the table with ranges and defaults to stderr.
pub fn print_help() {
    Line::new().text(b"THREADTALK_OPTIONS=name=value:name=value...").print();
    for entry in TABLE {
        let default = (entry.get)(&Options::defaults());
        let mut line = Line::new().text(b"  ").text(entry.name).text(b"=");
        line = match entry.range {
            Range::Words(words) => {
                for (i, word) in words.iter().enumerate() {
                    line = if i > 0 { line.text(b"|") } else { line }.text(word);
                }
                line.text(b" (default ").text(word(words, default))
            }
            Range::WordsOrNumber(words, most) => {
                for (word, _) in words {
                    line = line.text(word).text(b"|");
                }
                line.text(b"0..").number(most).text(b" (default ").number(default)
            }
            Range::Number(least, most) => {
                line.number(least).text(b"..").number(most).text(b" (default ").number(default)
            }
            Range::Processors => line.text(b"3,0-2,... (default none"),
            Range::Events => {
                for (i, event) in counters::events(u64::MAX).enumerate() {
                    line = if i > 0 { line.text(b",") } else { line }.text(event.name().as_bytes());
                }
                line.text(b" (default none")
            }
        };
        line.text(b"): ").text(entry.help).print();
    }
}

fn word(words: &'static [&'static [u8]], number: u64) -> &'static [u8] {
    words.get(number as usize).copied().unwrap_or(b"?")
}

/// `name=value` pairs of all options but `help`, for the profile.
pub fn describe(options: &Options, mut pair: impl FnMut(&'static [u8], Result<u64, &'static [u8]>)) {
    for entry in TABLE.iter().filter(|e| e.name != b"help") {
        let value = (entry.get)(options);
        pair(
            entry.name,
            match entry.range {
                Range::Words(words) => Err(word(words, value)),
                Range::WordsOrNumber(words, most) => {
                    let beyond = words.iter().find(|(_, number)| *number == value && value > most);
                    beyond.map_or(Ok(value), |(word, _)| Err(*word))
                }
                Range::Number(..) | Range::Processors | Range::Events => Ok(value),
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn parsed(text: &str) -> (Options, Vec<(std::string::String, Mistake)>) {
        let mut mistakes = Vec::new();
        let o = parse(text.as_bytes(), |item, m| mistakes.push((std::string::String::from_utf8_lossy(item).into(), m)));
        (o, mistakes)
    }

    #[test]
    fn values_units_and_words() {
        let (o, mistakes) = parsed("mode=exact:crd=off:signature_bytes=64M:quiet");
        assert_eq!(mistakes, []);
        assert_eq!(o, Options { exact: true, crd: 0, signature_bytes: 64 << 20, quiet: true, ..Options::defaults() });
    }

    #[test]
    fn the_last_list_of_processors_counts() {
        let text = "bind=3,0-1:crd=off:bind=7:bind=x";
        let (o, mistakes) = parsed(text);
        assert_eq!((o.bind, mistakes.len()), (1, 1));
        assert_eq!(bind_list(text.as_bytes()), Some(&b"7"[..]));
        assert_eq!(bind_list(b"crd=off"), None);
    }

    #[test]
    fn events_are_named_as_perf_names_them() {
        let (o, mistakes) = parsed("counters=page-faults,instructions:quiet=1");
        assert_eq!((o.counters, o.quiet, mistakes.len()), (0b1_0001, true, 0));
        let (o, mistakes) = parsed("counters=page-faults,horses");
        assert_eq!((o.counters, mistakes[0].1), (0, Mistake::Value));
    }

    #[test]
    fn words_that_stand_for_numbers() {
        let phases = |text| parsed(text).0.phases;
        assert_eq!(["phases=off", "phases=on", "phases=3", "phases=0"].map(phases), [crate::phases::OFF, 10, 3, 0]);
        assert_eq!(parsed("phases=60001").1[0].1, Mistake::Value);
        assert_eq!(parsed("phases=often").1[0].1, Mistake::Value);
        let mut described = Vec::new();
        describe(&parsed("phases=off").0, |name, value| described.push((name, value)));
        assert!(described.contains(&(&b"phases"[..], Err(&b"off"[..]))));
    }

    #[test]
    fn mistakes_are_named_and_the_rest_holds() {
        let (o, mistakes) = parsed("colour=red:mode=fuzzy:crd_bytes=1:crd_period=x:quiet=1::");
        let named: Vec<_> = mistakes.iter().map(|(i, m)| (i.as_str(), *m)).collect();
        assert_eq!(
            named,
            [
                ("colour=red", Mistake::Unknown),
                ("mode=fuzzy", Mistake::Value),
                ("crd_bytes=1", Mistake::Value),
                ("crd_period=x", Mistake::Value)
            ]
        );
        assert_eq!(o, Options { quiet: true, ..Options::defaults() });
    }

    #[test]
    fn defaults_of_the_table_are_in_range() {
        for entry in TABLE {
            let value = (entry.get)(&Options::defaults());
            match entry.range {
                Range::Words(w) => assert!((value as usize) < w.len()),
                Range::WordsOrNumber(_, most) => assert!(value <= most),
                Range::Number(least, most) => assert!((least..=most).contains(&value), "{:?}", entry.name),
                Range::Processors | Range::Events => assert_eq!(value, 0),
            }
        }
    }
}
