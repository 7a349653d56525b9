//! The pipeline over one instance of a section, or over several that are pooled (LIME, section 3).

use serde::Serialize;
use std::collections::BTreeSet;

use super::super::vector::constant;
use super::cause::{Cause, IMPORTANT, Kind};
use super::cluster::{clusters, predictor};
use super::forward::{Level, forward};
use super::leaders::Graph;
use super::pool::{Unpoolable, pool};
use super::residual::residual;
use super::section::Section;

/// Fewest threads of one instance: with 4 a regression on one predictor has 2 degrees of freedom, and nearly anything
/// fits.
pub const MIN_THREADS: usize = 5;

/// When a predictor is significant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Significance {
    /// p under this divided by the number of predictors (Bonferroni), and of pairs where none enters alone: with 8
    /// threads and 20 clusters of noise 0.05 lets something in in some 7 of 100 instances.
    Divided(f64),
    /// p under this: the same lets one in in 64 of 100.
    Raw(f64),
}

/// How to analyse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Least mean r within a cluster (section 3.2).
    pub threshold: f64,
    /// When a cluster enters the regression.
    pub significance: Significance,
    /// Imbalance (1 less mean over maximum) under which there is nothing to explain: what is left of a balanced program
    /// are the turns of its data, and a regression explains them as well as any.
    pub min_imbalance: f64,
    /// Share of the variance with which selection ends. What explains no more than 1 % of it beside the others has a
    /// coefficient of at most 0.1, which matters to no one; but where it is nearly the opposite of one that is
    /// selected, as the other side of a branch is, the two would share one cause with coefficients far above 1.
    pub unexplained: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            threshold: 0.9,
            significance: Significance::Divided(0.05),
            min_imbalance: 0.01,
            unexplained: IMPORTANT * IMPORTANT,
        }
    }
}

/// Why no cause was sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Fewer than [`MIN_THREADS`] threads, or so few over all pooled instances.
    TooFewThreads,
    /// All threads took about as long.
    Balanced,
}

/// A cluster that entered the regression.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Its place in [`Analysis::clusters`].
    pub cluster: usize,
    /// Partial F; none if it made the fit perfect.
    pub f: Option<f64>,
    /// Probability of that F by chance.
    pub p: f64,
    /// Standardised coefficient.
    pub beta: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// Threads, of all instances together.
    pub threads: usize,
    /// 1 less mean over maximum; of pooled instances that of the sums.
    pub imbalance: f64,
    /// Why there is nothing below; none if causes were sought.
    pub reason: Option<Reason>,
    /// Events of each cluster: edges by index, then hardware events, counted on.
    pub clusters: Vec<Vec<usize>>,
    /// Clusters that explain the time, in order of entry.
    pub entered: Vec<Entry>,
    /// Causes by falling score, then kind and location.
    pub causes: Vec<Cause>,
}

/// Causes of the imbalance in one instance.
pub fn analyse(section: &Section, options: &Options) -> Analysis {
    run(section, section.imbalance(), 1, options)
}

/// Causes common to several instances of a section, for teams of fewer than [`MIN_THREADS`] threads.
///
/// # Errors
/// The instances have not the same events.
pub fn analyse_pooled(instances: &[Section], options: &Options) -> Result<Analysis, Unpoolable> {
    let pooled = pool(instances)?;
    let maximum = |s: &Section| s.dependent.iter().copied().fold(0.0, f64::max);
    let lost: f64 = instances.iter().map(|s| s.imbalance() * maximum(s)).sum();
    let all: f64 = instances.iter().map(maximum).sum();
    Ok(run(&pooled, if all > 0.0 { lost / all } else { 0.0 }, instances.len(), options))
}

fn run(section: &Section, imbalance: f64, groups: usize, options: &Options) -> Analysis {
    let threads = section.dependent.len();
    let mut analysis =
        Analysis { threads, imbalance, reason: None, clusters: Vec::new(), entered: Vec::new(), causes: Vec::new() };
    if threads < groups + MIN_THREADS - 1 {
        analysis.reason = Some(Reason::TooFewThreads);
    } else if imbalance < options.min_imbalance || constant(&section.dependent) {
        analysis.reason = Some(Reason::Balanced);
    } else {
        explain(section, groups, options, &mut analysis);
    }
    analysis
}

fn explain(section: &Section, groups: usize, options: &Options, analysis: &mut Analysis) {
    let edges = section.edges.iter().map(|e| e.counts.clone());
    let hardware = section.hardware.iter().map(|h| residual(&h.counts, &h.superiors));
    let (kept, vectors): (Vec<usize>, Vec<Vec<f64>>) =
        edges.chain(hardware).enumerate().filter(|(_, v)| !constant(v)).unzip();
    let found = clusters(&vectors, options.threshold);
    let predictors: Vec<Vec<f64>> = found.iter().map(|c| predictor(c.iter().map(|&i| &vectors[i][..]))).collect();
    let level = match options.significance {
        Significance::Divided(alpha) => Level::divided(alpha, predictors.len()),
        Significance::Raw(alpha) => Level::raw(alpha),
    };
    let level = Level { rest: options.unexplained, ..level };
    let selected = forward(&section.dependent, &predictors, level, groups);
    analysis.clusters = found.iter().map(|c| c.iter().map(|&i| kept[i]).collect()).collect();
    let graph = Graph::new(&section.edges, &section.dependent);
    for s in selected {
        let entry = Entry { cluster: s.predictor, f: s.f.is_finite().then_some(s.f), p: s.p, beta: s.beta };
        analysis.entered.push(entry);
        causes_of(section, &graph, &analysis.clusters[s.predictor], &entry, &mut analysis.causes);
    }
    let key = |c: &Cause| (c.kind, c.location, c.cluster);
    analysis.causes.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| key(a).cmp(&key(b))));
}

/// Sections 3.3 and 3.5: the leaders of a cluster with an edge, all events of one without.
fn causes_of(section: &Section, graph: &Graph, cluster: &[usize], entry: &Entry, causes: &mut Vec<Cause>) {
    let Entry { p, beta, cluster: number, .. } = *entry;
    let edges: BTreeSet<usize> = cluster.iter().copied().filter(|&e| e < section.edges.len()).collect();
    for node in graph.leaders(&edges) {
        let own = graph.score(node);
        let counts = graph.telling_edge(node, &edges).map(|e| section.edges[e].counts.clone()).unwrap_or_default();
        let (kind, leader_score) = (Kind::ControlFlow, Some(own));
        causes.push(Cause { kind, location: node, score: beta * own, beta, leader_score, p, cluster: number, counts });
    }
    for &event in cluster.iter().filter(|_| edges.is_empty()) {
        let event = &section.hardware[event - section.edges.len()];
        let (kind, counts) = (Kind::Hardware, event.counts.clone());
        causes.push(Cause {
            kind,
            location: event.id,
            score: beta,
            beta,
            leader_score: None,
            p,
            cluster: number,
            counts,
        });
    }
}
