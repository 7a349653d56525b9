//! Writes that append to one of many places have the next line fetched where a line begins.

mod support;

use support::{Project, function};

const APPENDS: &str = r#"
typedef unsigned char u8; typedef unsigned u32; typedef unsigned long u64;
struct pair { u32 key; double value; };
void sort(u32 *to, const u32 *from, long n, long *next) { for (long i = 0; i < n; i++) to[next[from[i] >> 24]++] = from[i]; }
void back(u64 *to, const u64 *from, long n, u32 *count) { for (long i = 0; i < n; i++) to[--count[from[i] >> 56]] = from[i]; }
void bytes(u8 *to, const u8 *from, long n, int *next) { for (long i = 0; i < n; i++) to[next[from[i]]++] = from[i]; }
void behind(u64 **end, const u64 *from, long n) { for (long i = 0; i < n; i++) *end[from[i] & 255]++ = from[i]; }
void pairs(struct pair *to, const u32 *from, double v, long n, long *next) {
  for (long i = 0; i < n; i++) { struct pair *p = &to[next[from[i]]++]; p->key = from[i]; p->value = v; }
}
u32 fixed[256][64]; int filled[256];
void rows(const u32 *from, long n) { for (long i = 0; i < n; i++) { u32 b = from[i] & 255; if (filled[b] < 64) fixed[b][filled[b]++] = i; } }

void stream(u32 *to, const u32 *from, long n, long *next) { for (long i = 0; i < n; i++) if (from[i] & 1) to[(*next)++] = from[i]; }
void scatter(u32 *to, const u32 *from, long n, const long *place) { for (long i = 0; i < n; i++) to[place[from[i]]] = from[i]; }
void count(u32 *to, const u32 *from, long n) { for (long i = 0; i < n; i++) to[from[i]]++; }
void other(u32 *to, const u32 *from, long n, long *next, long *seen) {
  for (long i = 0; i < n; i++) { to[next[from[i]]] = i; seen[from[i]]++; }
}
"#;

/// What a function asks of addresses before it fetches a line, and how far ahead that is.
fn fetches(ir: &str, name: &str) -> Vec<String> {
    // A sequence's lines follow each other in one string.
    let lines: Vec<_> = function(ir, name).split("\\0A\\09").collect();
    let until = |line: &'_ str, end| line.split(end).next().unwrap_or_default().to_string();
    let mut found = Vec::new();
    let mut asked = String::new();
    for (number, line) in lines.iter().enumerate() {
        if let Some(mask) = line.strip_prefix("testl $$") {
            let behind = lines[number - 1].strip_prefix("leal ").filter(|behind| behind.ends_with("), %r11d"));
            asked = behind.filter(|_| mask.ends_with(", %r11d")).map_or_else(String::new, |b| until(b, '(') + " ");
            asked += &until(mask, ',');
        }
        if let Some(ahead) = line.strip_prefix("prefetcht0 ") {
            found.push(format!("{asked} {}", until(ahead, '(')));
        }
    }
    found.dedup();
    found
}

#[test]
fn the_next_line_is_fetched_where_one_begins() {
    let ir = Project::new("a.c", APPENDS).ir("a.c", &["-O1"]);
    let of = |name| fetches(&ir, name);
    assert_eq!(of("sort"), ["60 64"], "4 bytes upwards");
    assert_eq!(of("back"), ["8 56 -64"], "8 bytes downwards: what lies behind the last one begins a line");
    assert_eq!(of("bytes"), ["63 64"]);
    assert_eq!(of("behind"), ["56 64"], "the pointers themselves are stepped");
    assert_eq!(of("pairs"), ["48 64"], "elements of 16 bytes, of which the first member is asked");
    assert_eq!(of("rows"), ["60 64"], "elements of one row of several");
    for name in ["stream", "scatter", "count", "other"] {
        assert_eq!(of(name), [""; 0], "{name}");
    }
}

#[test]
fn without_optimisation_nothing_is_fetched() {
    let ir = Project::new("a.c", APPENDS).options("opt=0").ir("a.c", &["-O1"]);
    assert!(!ir.contains("prefetcht0"));
}
