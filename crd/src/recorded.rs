//! What a profile has about each region itself.

use threadtalk_profile::{Event, Profile};

use crate::distance::{Inside, Traces};
use crate::options::Options;
use crate::participants::{self, ByThread};
use crate::regions::{RegionId, Tree};
use crate::sites::{self, SiteCount};
use crate::threads::Threads;

/// By region; the parts of all regions inside it are not in it.
pub struct Recorded {
    /// Events that are shown.
    pub events: Vec<Vec<Event>>,
    /// The same by pair of sites.
    pub sites: Vec<Vec<SiteCount>>,
    /// Entries by thread.
    pub visits: Vec<ByThread>,
    /// Private bytes by thread.
    pub private: Vec<ByThread>,
    /// Reuse distances.
    pub traces: Vec<Option<Traces>>,
}

impl Recorded {
    /// Sorts what the profile has by region.
    pub fn collect(profile: &Profile, tree: &Tree, threads: &Threads, options: &Options) -> Self {
        let events = events(profile, tree, options);
        let mut insides = vec![None; tree.nodes.len()];
        for trace in profile.sampled_traces() {
            insides[tree.node(trace.region) as usize].get_or_insert_with(Inside::default).add(&Inside::of(&trace));
        }
        let nothing = Inside::default();
        let mut traces = vec![None; tree.nodes.len()];
        for trace in profile.traces() {
            let node = tree.node(trace.region) as usize;
            let inside = insides[node].as_ref().unwrap_or(&nothing);
            traces[node].get_or_insert_with(Traces::default).add_trace(&trace, inside);
        }
        Self {
            sites: events.iter().map(|of_region| sites::sums(of_region.iter().copied())).collect(),
            events,
            visits: participants::visits(profile, tree, threads),
            private: participants::private_bytes(profile, tree, threads),
            traces,
        }
    }
}

/// The events of each region. Those in a user region are also that one's.
fn events(profile: &Profile, tree: &Tree, options: &Options) -> Vec<Vec<Event>> {
    // Counted first: growing a thousand lists step by step would move every event several times.
    let mut counts = vec![0; tree.nodes.len()];
    each_event(profile, tree, options, |node, _| counts[node as usize] += 1);
    let mut events: Vec<Vec<Event>> = counts.into_iter().map(Vec::with_capacity).collect();
    each_event(profile, tree, options, |node, event| events[node as usize].push(event));
    events
}

/// Shows each event that is not hidden to `see`, with each region that it is counted in.
fn each_event(profile: &Profile, tree: &Tree, options: &Options, mut see: impl FnMut(RegionId, Event)) {
    let is_hidden = |e: &Event| e.raw == 0 && e.rar == 0 || options.hide_serial && e.is_serial();
    profile.events().filter(|e| !is_hidden(e)).for_each(|event| {
        let node = tree.node(event.region);
        see(node, event);
        if let Some(user) = tree.user_node(event.context).filter(|user| *user != node) {
            see(user, event);
        }
    });
}
