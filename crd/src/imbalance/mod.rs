//! Load imbalance: how much, where, and which line causes it. The algorithms work on vectors in memory with an element per
//! thread; nothing here reads a profile.
//!
//! | what | where | source |
//! |---|---|---|
//! | imbalance time and percentage, extremes, distribution | [`craypat`] | DeRose, Homer, Johnson, "Detecting Application Load Imbalance on High End Massively Parallel Systems", Euro-Par 2007 |
//! | parallelism of basic blocks | [`pbv`] | Kambadur, Tang, Kim, "Harmony: Collection and Analysis of Parallel Block Vectors" |
//! | causes of imbalance | [`lime`] | Oh, Hughes, Venkataramani, Prvulovic, "LIME: A Framework for Debugging Load Imbalance in Multi-threaded Execution", ICSE 2011 |
//! | kinds of threads, critical regions, what tells the kinds apart | [`similarity`] | Liu, Zhan, Tu, Zou, Meng, "Similarity Analysis in Automatic Performance Debugging of SPMD Parallel Programs" |

pub mod craypat;
pub mod lime;
pub mod pbv;
pub mod similarity;
mod vector;
