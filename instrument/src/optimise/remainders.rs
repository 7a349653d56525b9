//! Finds the loops that run what a vectorised loop leaves over: less than one of its iterations, unless its arrays
//! overlap. They are half of the loops of numeric code and take next to none of its time, unless rows are shorter than
//! a vector: points of three numbers are read there alone.

use super::segment::plain;
use crate::access::Event;
use crate::llvm::loops::Loops;
use std::collections::{HashMap, HashSet};

/// The numbers of the remainders: pieces of a source loop of which another piece has wider accesses.
pub fn find<'ctx>(events: &[Event<'ctx>], loops: &Loops<'ctx>) -> HashSet<usize> {
    let mut widths: HashMap<usize, u64> = HashMap::new();
    for event in events {
        let innermost = event.inst.get_parent().and_then(|block| loops.innermost(block));
        let Some(piece) = innermost.filter(|&l| loops.all[l].derived && !loops.has_inner(l)) else { continue };
        let bytes = plain(event).map_or(0, |(_, access)| access.bytes);
        let width = widths.entry(piece).or_default();
        *width = bytes.max(*width);
    }
    let source = |piece: usize| (loops.all[piece].start.map(|l| l.raw), loops.all[piece].parent);
    let mut widest: HashMap<_, u64> = HashMap::new();
    for (&piece, &width) in &widths {
        let most = widest.entry(source(piece)).or_default();
        *most = width.max(*most);
    }
    widths.into_iter().filter(|&(piece, width)| width < widest[&source(piece)]).map(|(piece, _)| piece).collect()
}
