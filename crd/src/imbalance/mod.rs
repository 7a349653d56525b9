//! Load imbalance: how much, where, and which line causes it. The algorithms work on vectors in memory with an element
//! per thread; [`profile`] brings a run's counts and times into that form and joins what they find.
//!
//! | what | where | source |
//! |---|---|---|
//! | imbalance time and percentage, extremes, distribution | [`craypat`] | DeRose, Homer, Johnson 2007 |
//! | counts of all edges from those of some | [`flow`] | Knuth, Stevenson 1973 |
//! | parallelism of basic blocks | [`pbv`] | Kambadur, Tang, Kim 2012 |
//! | causes of imbalance | [`lime`] | Oh, Hughes, Venkataramani, Prvulovic 2011 |
//! | kinds of threads, critical regions, what tells the kinds apart | [`similarity`] | Liu, Zhan, Tu, Zou, Meng |
//!
//! DeRose et al., "Detecting Application Load Imbalance on High End Massively Parallel Systems", Euro-Par 2007;
//! Kambadur et al., "Harmony: Collection and Analysis of Parallel Block Vectors", IISWC 2012; Oh et al., "LIME: A
//! Framework for Debugging Load Imbalance in Multi-threaded Execution", ICSE 2011; Liu et al., "Similarity Analysis in
//! Automatic Performance Debugging of SPMD Parallel Programs".

pub mod craypat;
pub mod flow;
pub mod lime;
pub mod pbv;
pub mod profile;
pub mod similarity;
mod vector;
