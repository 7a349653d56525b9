//! The kernels: source, language, variants and sizes.

mod patterns;

use std::path::PathBuf;

pub use patterns::PATTERNS;

/// The language of a kernel and what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C with pthreads.
    C,
    /// C with OpenMP.
    COpenMp,
    /// C++ with `std::thread`.
    Cxx,
    /// C++ with OpenMP.
    CxxOpenMp,
}

/// One program of the tables.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Its name in tables and in `--kernels`.
    pub name: &'static str,
    /// Kernels that compute the same have the same family; the non-optimised variant comes first.
    pub family: &'static str,
    /// File in `benchmarks`.
    pub source: &'static str,
    /// Macros that select the variant.
    pub defines: &'static [&'static str],
    /// What it is written in.
    pub language: Language,
    /// Arguments for the tables.
    pub full: &'static [&'static str],
    /// Arguments for tools that are a hundred times slower, and for `--quick`.
    pub small: &'static [&'static str],
    /// Arguments for tests: some thousand operations, and not a multiple of the usual thread counts.
    pub tiny: &'static [&'static str],
}

pub(crate) const fn kernel(
    name: &'static str,
    family: &'static str,
    source: &'static str,
    defines: &'static [&'static str],
    language: Language,
    small: &'static [&'static str],
    tiny: &'static [&'static str],
) -> Kernel {
    Kernel { name, family, source, defines, language, full: &[], small, tiny }
}

/// All kernels, in the order of the tables.
pub const ALL: &[Kernel] = &[
    kernel("lu", "lu", "kernels/lu.c", &[], Language::C, &["-n", "576"], &["-n", "56", "-b", "8"]),
    kernel(
        "lu-contiguous",
        "lu",
        "kernels/lu.c",
        &["CONTIGUOUS"],
        Language::C,
        &["-n", "576"],
        &["-n", "56", "-b", "8"],
    ),
    kernel("ocean", "ocean", "kernels/ocean.c", &[], Language::C, &["-n", "256", "-s", "40"], &["-n", "37", "-s", "3"]),
    kernel(
        "ocean-contiguous",
        "ocean",
        "kernels/ocean.c",
        &["CONTIGUOUS"],
        Language::C,
        &["-n", "256", "-s", "40"],
        &["-n", "37", "-s", "3"],
    ),
    kernel(
        "water-nsquared",
        "water",
        "kernels/water_nsquared.c",
        &[],
        Language::C,
        &["-n", "1500", "-s", "2"],
        &["-n", "301", "-s", "20"],
    ),
    kernel(
        "water-spatial",
        "water",
        "kernels/water_spatial.c",
        &[],
        Language::C,
        &["-n", "1500", "-s", "10"],
        &["-n", "301", "-s", "20"],
    ),
    kernel("matmul", "matmul", "kernels/matmul.c", &[], Language::COpenMp, &["-n", "320"], &["-n", "45", "-b", "8"]),
    kernel(
        "matmul-blocked",
        "matmul",
        "kernels/matmul.c",
        &["BLOCKED"],
        Language::COpenMp,
        &["-n", "448"],
        &["-n", "45", "-b", "8"],
    ),
    kernel(
        "jacobi",
        "jacobi",
        "kernels/jacobi.c",
        &[],
        Language::COpenMp,
        &["-n", "256", "-s", "800"],
        &["-n", "33", "-s", "9"],
    ),
    kernel("nbody", "nbody", "kernels/nbody.cpp", &[], Language::CxxOpenMp, &["-n", "1000"], &["-n", "61", "-s", "3"]),
    kernel(
        "cg",
        "cg",
        "kernels/cg.c",
        &[],
        Language::COpenMp,
        &["-n", "20000", "-s", "100"],
        &["-n", "701", "-s", "5"],
    ),
    kernel(
        "radix",
        "radix",
        "kernels/radix.c",
        &[],
        Language::C,
        &["-n", "500000", "-s", "8"],
        &["-n", "5003", "-s", "1"],
    ),
    kernel(
        "kmeans",
        "kmeans",
        "kernels/kmeans.cpp",
        &[],
        Language::Cxx,
        &["-n", "20000", "-s", "20"],
        &["-n", "503", "-s", "3", "-b", "5"],
    ),
];

/// The kernel of this name, while compiling: there is one, or nothing compiles.
pub(crate) const fn named(name: &str) -> Kernel {
    let mut at = 0;
    while at < ALL.len() {
        if is_same(ALL[at].name.as_bytes(), name.as_bytes()) {
            return ALL[at];
        }
        at += 1;
    }
    panic!("there is no kernel of this name")
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

impl Kernel {
    /// The kernel or the pattern of this name.
    pub fn named(name: &str) -> Option<&'static Kernel> {
        ALL.iter().chain(PATTERNS).find(|kernel| kernel.name == name)
    }

    /// Its source file in this checkout.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(self.source)
    }

    /// Arguments for the tables, or the small ones.
    pub fn arguments(&self, small: bool) -> &'static [&'static str] {
        if small { self.small } else { self.full }
    }

    /// Whether a C++ compiler is needed.
    pub fn is_cxx(&self) -> bool {
        matches!(self.language, Language::Cxx | Language::CxxOpenMp)
    }

    /// Whether it uses OpenMP.
    pub fn is_openmp(&self) -> bool {
        matches!(self.language, Language::COpenMp | Language::CxxOpenMp)
    }

    /// The flags that every build of it needs; optimisation and debug information included.
    ///
    /// Contraction is off because a machine with fused multiply-add would compute other bits in one variant than in
    /// another.
    pub fn flags(&self) -> Vec<String> {
        let mut flags = vec!["-O2".to_owned(), "-g".into(), "-ffp-contract=off".into(), "-pthread".into()];
        if self.is_cxx() {
            flags.push("-std=c++20".into());
        }
        if self.is_openmp() {
            flags.push("-fopenmp".into());
        }
        flags.extend(self.defines.iter().map(|name| format!("-D{name}")));
        flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_sources_exist() {
        let names: HashSet<_> = ALL.iter().chain(PATTERNS).map(|kernel| kernel.name).collect();
        assert_eq!(names.len(), ALL.len() + PATTERNS.len());
        for kernel in ALL.iter().chain(PATTERNS) {
            assert!(kernel.path().is_file(), "{}", kernel.path().display());
            assert_eq!(kernel.is_cxx(), kernel.source.ends_with(".cpp"), "{}", kernel.name);
        }
    }

    #[test]
    fn names_lead_to_their_kernel_while_compiling_too() {
        for kernel in ALL {
            assert_eq!(named(kernel.name).name, kernel.name);
        }
        assert!(!is_same(b"lu", b"lu-contiguous") && !is_same(b"lu", b"") && is_same(b"", b""));
    }

    #[test]
    fn variants_of_a_family_stand_together() {
        let families: Vec<_> = ALL.iter().map(|kernel| kernel.family).collect();
        let runs = families.chunk_by(|a, b| a == b).count();
        assert_eq!(runs, families.iter().collect::<HashSet<_>>().len());
    }
}
