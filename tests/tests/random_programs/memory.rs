//! What the programs compute on: pools of elements of some types, into which all pointers of a type lead, so that any
//! two of them may overlap, in whole or in part.

use crate::one_of;
use fastrand::Rng;

/// Indices are below it. What is called with a pointer to such an element accesses no more than as many behind it.
pub const REACH: i64 = 2400;
/// Elements between the places where pointers lead to; behind the last of them there is twice the reach.
pub const HOME: i64 = 3600;
/// Such places. A thread that is alone in one may come to own it.
pub const HOMES: i64 = 6;
/// Values of `int`: below it. They are bounds, indices and links too, so that a loop whose bound is overwritten still
/// ends.
pub const INTS: i64 = 128;
/// `row[i]` for `i` up to [`INTS`]: where row `i` begins; the last one ends below this.
pub const ROWS: i64 = 1500;

/// Types of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    Triple,
    Mixed,
    Pixel,
}

/// As often as programs have them.
const KINDS: [Kind; 13] = [
    Kind::Double,
    Kind::Double,
    Kind::Double,
    Kind::Int,
    Kind::Int,
    Kind::Long,
    Kind::Float,
    Kind::Byte,
    Kind::Byte,
    Kind::Short,
    Kind::Triple,
    Kind::Mixed,
    Kind::Pixel,
];

/// Contexts.
pub const CONTEXTS: i64 = 4;

/// The types and pools, in C.
pub fn declarations() -> String {
    let pool = HOMES * HOME + 2 * REACH;
    let rows = INTS + 1;
    format!(
        "\nenum {{ POOL = {pool}, HOME = {HOME}, INTS = {INTS}, ROWS = {rows}, CONTEXTS = {CONTEXTS} }};{DECLARATIONS}"
    )
}

const DECLARATIONS: &str = r#"
struct triple { double x, y, z; };
struct mixed { double x; int n; unsigned char c; short h; long l; float f; };
struct pixel { unsigned char r, g, b, a; };
struct context { double *a; int *b; unsigned char *u; struct triple *t; int n, m; long total; double weight; };
static unsigned char bytes[POOL];
static short shorts[POOL];
static int ints[POOL];
static long longs[POOL];
static float floats[POOL];
static double doubles[POOL];
static struct triple triples[POOL];
static struct mixed mixeds[POOL];
static struct pixel pixels[POOL];
static struct context contexts[CONTEXTS];
static int row[ROWS];

static NOINLINE void fill(void) {
    for (int i = 0; i < POOL; i++) {
        bytes[i] = (unsigned char)(i * 7), shorts[i] = (short)(i % 1000), ints[i] = (i * 5) % INTS;
        longs[i] = i % 1024, floats[i] = (float)(i % 500), doubles[i] = i % 700;
        triples[i] = (struct triple){i % 3, i % 5, i % 7};
        mixeds[i] = (struct mixed){i % 11, i % INTS, (unsigned char)i, (short)(i % 9), i % 13, (float)(i % 17)};
        pixels[i] = (struct pixel){(unsigned char)i, (unsigned char)(i * 3), (unsigned char)(i / 4), (unsigned char)(i % 100)};
    }
    for (int i = 0; i < ROWS; i++)
        row[i] = i * 11 + i % 5;
    for (int i = 0; i < CONTEXTS; i++)
        contexts[i] = (struct context){doubles + HOME * i, ints + HOME * i, bytes + HOME * i, triples + HOME * i, 60 + i, 5 * i, 0, 1};
}

static unsigned long mix(unsigned long sum, double value) {
    union { double d; unsigned long u; } bits = {value};
    return (sum ^ bits.u) * 0x9E3779B97F4A7C15ul >> 3 ^ sum << 7;
}

static NOINLINE unsigned long checksum(void) {
    unsigned long sum = 1;
    for (int i = 0; i < POOL; i++) {
        sum = mix(sum, bytes[i]), sum = mix(sum, shorts[i]), sum = mix(sum, ints[i]), sum = mix(sum, (double)longs[i]);
        sum = mix(sum, floats[i]), sum = mix(sum, doubles[i]), sum = mix(sum, triples[i].x), sum = mix(sum, triples[i].y);
        sum = mix(sum, triples[i].z), sum = mix(sum, mixeds[i].x), sum = mix(sum, mixeds[i].n), sum = mix(sum, mixeds[i].c);
        sum = mix(sum, mixeds[i].h), sum = mix(sum, (double)mixeds[i].l), sum = mix(sum, mixeds[i].f);
        sum = mix(sum, pixels[i].r), sum = mix(sum, pixels[i].g), sum = mix(sum, pixels[i].b), sum = mix(sum, pixels[i].a);
    }
    for (int i = 0; i < CONTEXTS; i++)
        sum = mix(sum, contexts[i].n), sum = mix(sum, contexts[i].m), sum = mix(sum, contexts[i].weight);
    return sum;
}
"#;

impl Kind {
    /// A random one.
    pub fn random(random: &mut Rng) -> Kind {
        one_of(random, &KINDS)
    }

    /// Its C type.
    pub fn c_type(self) -> &'static str {
        match self {
            Kind::Byte => "unsigned char",
            Kind::Short => "short",
            Kind::Int => "int",
            Kind::Long => "long",
            Kind::Float => "float",
            Kind::Double => "double",
            Kind::Triple => "struct triple",
            Kind::Mixed => "struct mixed",
            Kind::Pixel => "struct pixel",
        }
    }

    /// Its pool.
    pub fn pool(self) -> &'static str {
        match self {
            Kind::Byte => "bytes",
            Kind::Short => "shorts",
            Kind::Int => "ints",
            Kind::Long => "longs",
            Kind::Float => "floats",
            Kind::Double => "doubles",
            Kind::Triple => "triples",
            Kind::Mixed => "mixeds",
            Kind::Pixel => "pixels",
        }
    }

    /// Whether it has members.
    pub fn is_structure(self) -> bool {
        matches!(self, Kind::Triple | Kind::Mixed | Kind::Pixel)
    }

    /// A number in such an element: what follows the element in C, and the number's type.
    pub fn number(self, random: &mut Rng) -> (&'static str, Kind) {
        let members: &[(&str, Kind)] = match self {
            Kind::Triple => &[(".x", Kind::Double), (".y", Kind::Double), (".z", Kind::Double)],
            Kind::Mixed => &[
                (".x", Kind::Double),
                (".n", Kind::Int),
                (".c", Kind::Byte),
                (".h", Kind::Short),
                (".l", Kind::Long),
                (".f", Kind::Float),
            ],
            Kind::Pixel => &[(".r", Kind::Byte), (".g", Kind::Byte), (".b", Kind::Byte), (".a", Kind::Byte)],
            _ => return ("", self),
        };
        one_of(random, members)
    }

    /// C for a value of this type made of terms, which are numbers of any type from -1024 to 1024: it is one itself, so
    /// that no conversion overflows.
    pub fn made_of(self, terms: &[String]) -> String {
        let (first, second) = (terms.first().map_or("1", |t| t), terms.get(1).map_or("2", |t| t));
        let all = terms.iter().map(|term| format!("(long)({term})")).collect::<Vec<_>>().join(" + ");
        match self {
            Kind::Byte => format!("(unsigned char)({all})"),
            Kind::Short => format!("(short)(({all}) & 511)"),
            Kind::Int => format!("(int)(({all}) & {})", INTS - 1),
            Kind::Long => format!("({all}) & 1023"),
            Kind::Float => format!("(float)(0.5 * ({first}) + 0.25 * ({second}) + 1)"),
            _ => format!("0.5 * ({first}) - 0.25 * ({second}) + 3"),
        }
    }

    /// C for a value that a term of this type may be compared with.
    pub fn landmark(self, random: &mut Rng) -> String {
        match self {
            Kind::Byte => random.u8(..).to_string(),
            Kind::Int => random.i64(0..INTS).to_string(),
            Kind::Float | Kind::Double => format!("{}.0", random.i32(0..300)),
            _ => random.i32(0..600).to_string(),
        }
    }
}
