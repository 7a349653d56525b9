//! What an `EXPECT` line looks at: a matrix, a pair of lines or a number, of the program or of a region.

/// What an `EXPECT` line looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Entries, row sums, column sums or the sum of a matrix (`raw`, `rar`, and either with `sync_` or `serial_`).
    Matrix {
        /// Which matrix.
        matrix: String,
        /// Which of its numbers.
        part: Part,
        /// Of which region.
        region: Selector,
    },
    /// `raw` or `rar` between two marked lines, over the whole program.
    Lines {
        /// `raw` or `rar`.
        matrix: String,
        /// Mark of the writing line.
        writer: String,
        /// Mark of the reading line.
        reader: String,
    },
    /// `raw` or `rar` of an object of the whole program, its members included.
    Object {
        /// `raw` or `rar`.
        matrix: String,
        /// `global`, `heap`, `stack`, `pointer` or `unknown`.
        kind: String,
        /// The variable; none: all of the kind.
        name: Option<String>,
        /// Mark of the line that declares or allocates it; none: any.
        mark: Option<String>,
    },
    /// A number in the report by its path, `crd.median`.
    Number {
        /// Keys joined by dots.
        path: String,
        /// Of which region.
        region: Selector,
    },
}

/// Which numbers of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Each entry; the formula may use `w` and `r`.
    Entries,
    /// Sum over the readers, for each `w`.
    Rows,
    /// Sum over the writers, for each `r`.
    Columns,
    /// Sum of all entries.
    Sum,
}

/// Which region of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// `None`: the program. Otherwise kind, name and the mark of its first line if given.
    pub of: Option<(String, String, Option<String>)>,
    /// Its own events, without its children's.
    pub own: bool,
}

impl Subject {
    /// Reads what stands before the relation.
    pub fn parse(text: &str) -> Option<Self> {
        let (what, place) = match text.split_once(" in ") {
            Some((what, place)) => (what, Some(place)),
            None => (text, None),
        };
        let region = Selector::parse(place)?;
        let words: Vec<&str> = what.split_whitespace().collect();
        let known = |m: &str| ["raw", "rar", "sync_raw", "sync_rar", "serial_raw", "serial_rar"].contains(&m);
        match words[..] {
            ["number", path] => Some(Self::Number { path: path.to_owned(), region }),
            [matrix @ ("raw" | "rar"), "lines", writer, "->", reader] if place.is_none() => {
                Some(Self::Lines { matrix: matrix.to_owned(), writer: writer.to_owned(), reader: reader.to_owned() })
            }
            [matrix @ ("raw" | "rar"), "object", kind, ref name @ ..] if place.is_none() && name.len() < 2 => {
                let (name, mark) = name.first().map(|name| at_mark(name)).unzip();
                Some(Self::Object { matrix: matrix.to_owned(), kind: kind.to_owned(), name, mark: mark.flatten() })
            }
            [matrix, ref part @ ..] if known(matrix) => {
                let part = match part {
                    [] => Part::Entries,
                    ["rows"] => Part::Rows,
                    ["columns"] => Part::Columns,
                    ["sum"] => Part::Sum,
                    _ => return None,
                };
                Some(Self::Matrix { matrix: matrix.to_owned(), part, region })
            }
            _ => None,
        }
    }
}

impl Selector {
    fn parse(place: Option<&str>) -> Option<Self> {
        let Some(place) = place else { return Some(Self { of: None, own: false }) };
        let mut words: Vec<&str> = place.split_whitespace().collect();
        let own = words.first() == Some(&"own");
        if own {
            words.remove(0);
        }
        let (kind, name) = match words[..] {
            ["program"] => return Some(Self { of: None, own }),
            [name] => ("function", name),
            [kind, name] => (kind, name),
            _ => return None,
        };
        let (name, mark) = at_mark(name);
        Some(Self { of: Some((kind.to_owned(), name, mark)), own })
    }
}

/// What `name@mark` says: a name, and the mark of its line if there is one.
fn at_mark(text: &str) -> (String, Option<String>) {
    match text.split_once('@') {
        Some((name, mark)) => (name.to_owned(), Some(mark.to_owned())),
        None => (text.to_owned(), None),
    }
}
