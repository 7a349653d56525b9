//! The programs of the table, and what the paper printed of theirs.

use crate::kernels::{Kernel, Language, kernel, named};

/// A program in two variants.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// Its name in the table and in `--pairs`.
    pub name: &'static str,
    /// Before the optimisation.
    pub before: Kernel,
    /// After it; none where the program stays as it is and only its threads move.
    pub after: Option<Kernel>,
    /// Functions whose own regions and regions inside make the bottleneck; the first that has events is taken.
    pub regions: &'static [&'static str],
    /// The rules that suggest what was done to it: what the paper did, or what the variant after does. None where the
    /// paper found that it does not help.
    pub rules: &'static [&'static str],
    /// The paper's row.
    pub published: Published,
}

/// A row of the paper's Table 2; Figures 6 to 8 show pictures without such numbers.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// The paper's name and place.
    pub name: &'static str,
    /// Median CRD, H and B before, if printed.
    pub before: Option<[f64; 3]>,
    /// The same after.
    pub after: Option<[f64; 3]>,
    /// What was done.
    pub optimisation: &'static str,
    /// Speed-up in percent, if printed.
    pub speed_up: Option<f64>,
}

const fn openmp(
    name: &'static str,
    family: &'static str,
    source: &'static str,
    defines: &'static [&'static str],
    tiny: Size,
) -> Kernel {
    kernel(name, family, source, defines, Language::COpenMp, &[], tiny)
}

type Size = &'static [&'static str];

const fn figure(name: &'static str, optimisation: &'static str) -> Published {
    Published { name, before: None, after: None, optimisation, speed_up: None }
}

const BACKPROP: Size = &["-n", "301", "-s", "3"];
const ALIGNMENT: Size = &["-n", "70", "-b", "8"];
const SRAD: Size = &["-n", "33", "-s", "3"];
const FILTER: Size = &["-n", "203", "-s", "3"];
const CLUSTER: Size = &["-n", "205", "-s", "9"];

/// All pairs, in the paper's order.
pub const ALL: &[Pair] = &[
    Pair {
        name: "lu",
        before: named("lu"),
        after: Some(named("lu-contiguous")),
        regions: &["daxpy", "bmod"],
        rules: &["false-sharing"],
        published: figure("lu_ncb, lu_cb (Figure 6)", "contiguous blocks"),
    },
    Pair {
        name: "ocean",
        before: named("ocean"),
        after: Some(named("ocean-contiguous")),
        regions: &["laplacian", "fetch"],
        rules: &[],
        published: figure("ocean_ncp, ocean_cp (Figure 7)", "a field for each thread"),
    },
    Pair {
        name: "water",
        before: named("water-nsquared"),
        after: Some(named("water-spatial")),
        regions: &["water_pair"],
        rules: &["array-blocking"],
        published: figure("water_nsquared, water_spatial (Figure 8)", "a grid of cells"),
    },
    Pair {
        name: "backprop",
        before: openmp("backprop", "backprop", "kernels/evaluation/backprop.c", &[], BACKPROP),
        after: Some(openmp(
            "backprop-reordered",
            "backprop",
            "kernels/evaluation/backprop.c",
            &["REORDERED"],
            BACKPROP,
        )),
        regions: &["adjust_weights"],
        rules: &["array-blocking"],
        published: Published {
            name: "Back Propagation (Table 2)",
            before: Some([5.0, 84.0, 21.0]),
            after: Some([2.0, 54.0, 14.0]),
            optimisation: "loop reordering, array blocking",
            speed_up: Some(15.0),
        },
    },
    Pair {
        name: "needleman-wunsch",
        before: openmp("needleman-wunsch", "needleman-wunsch", "kernels/evaluation/needleman_wunsch.c", &[], ALIGNMENT),
        after: Some(openmp(
            "needleman-wunsch-blocked",
            "needleman-wunsch",
            "kernels/evaluation/needleman_wunsch.c",
            &["BLOCKED"],
            ALIGNMENT,
        )),
        regions: &["align_cell"],
        rules: &["data-affinity-scheduling"],
        published: Published {
            name: "Needleman-Wunsch (Table 2)",
            before: Some([10.0, 278.0, 139.0]),
            after: Some([5.0, 239.0, 45.0]),
            optimisation: "data affinity (chunks of 32), array blocking",
            speed_up: Some(29.0),
        },
    },
    Pair {
        name: "srad",
        before: openmp("srad", "srad", "kernels/evaluation/srad.c", &[], SRAD),
        after: Some(openmp("srad-reordered", "srad", "kernels/evaluation/srad.c", &["REORDERED"], SRAD)),
        regions: &["derivatives"],
        rules: &["loop-reordering", "thread-mapping"],
        published: Published {
            name: "SRAD (Table 2)",
            before: Some([13.0, 1124.0, 153.0]),
            after: Some([4.0, 981.0, 89.0]),
            optimisation: "loop reordering, thread mapping",
            speed_up: Some(35.0),
        },
    },
    Pair {
        name: "particle-filter",
        before: openmp("particle-filter", "particle-filter", "kernels/evaluation/particle_filter.c", &[], FILTER),
        after: Some(openmp(
            "particle-filter-fused",
            "particle-filter",
            "kernels/evaluation/particle_filter.c",
            &["FUSED"],
            FILTER,
        )),
        regions: &["find"],
        rules: &["loop-fusion"],
        published: Published {
            name: "Particle filter (Table 2)",
            before: Some([8.0, 321.0, 89.0]),
            after: Some([3.0, 384.0, 121.0]),
            optimisation: "loop fusion",
            speed_up: Some(56.0),
        },
    },
    Pair {
        name: "streamcluster",
        before: kernel(
            "streamcluster",
            "streamcluster",
            "kernels/evaluation/streamcluster.c",
            &[],
            Language::C,
            &[],
            CLUSTER,
        ),
        after: None,
        regions: &["distance"],
        rules: &["thread-mapping"],
        published: Published {
            name: "Streamcluster (Table 2)",
            before: Some([3.0, 1409.0, 6.0]),
            after: None,
            optimisation: "thread mapping",
            speed_up: Some(19.0),
        },
    },
];

impl Pair {
    /// Both variants.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        std::iter::once(&self.before).chain(&self.after)
    }
}
