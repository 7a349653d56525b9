//! The control flow graphs in the tables of a module.

use std::mem::size_of;
use threadtalk_abi::control::{BlockEntry, CallEntry, EdgeEntry, FunctionEntry, OUTSIDE};
use threadtalk_abi::module::TablesHeader;

use super::bytes::put;
use super::module::Strings;
use crate::tables::{Block, Call, Edge, Function};

/// How many entries of each kind there are: blocks, edges, calls.
fn totals(functions: &[Function]) -> [usize; 3] {
    let lengths = functions.iter().map(|f| [f.blocks.len(), f.edges.len(), f.calls.len()]);
    lengths.fold([0; 3], |sum, lengths| std::array::from_fn(|i| sum[i] + lengths[i]))
}

/// Bytes of the entries.
pub fn length(functions: &[Function]) -> usize {
    let [blocks, edges, calls] = totals(functions);
    functions.len() * size_of::<FunctionEntry>()
        + blocks * size_of::<BlockEntry>()
        + edges * size_of::<EdgeEntry>()
        + calls * size_of::<CallEntry>()
}

/// Writes the entries, and their numbers into the header of the tables.
pub fn encode(functions: &[Function], header: &mut [u8], bytes: &mut [u8], strings: &mut Strings) {
    let [blocks, edges, calls] = totals(functions);
    put!(header, TablesHeader, functions, functions.len() as u32);
    put!(header, TablesHeader, blocks, blocks as u32);
    put!(header, TablesHeader, edges, edges as u32);
    put!(header, TablesHeader, calls, calls as u32);
    let (function_bytes, bytes) = bytes.split_at_mut(functions.len() * size_of::<FunctionEntry>());
    let (block_bytes, bytes) = bytes.split_at_mut(blocks * size_of::<BlockEntry>());
    let (edge_bytes, call_bytes) = bytes.split_at_mut(edges * size_of::<EdgeEntry>());
    let mut first = [0u32; 3];
    for (function, entry) in functions.iter().zip(function_bytes.chunks_exact_mut(size_of::<FunctionEntry>())) {
        let count = [function.blocks.len() as u32, function.edges.len() as u32, function.calls.len() as u32];
        put!(entry, FunctionEntry, region, function.region);
        put!(entry, FunctionEntry, first_block, first[0]);
        put!(entry, FunctionEntry, blocks, count[0]);
        put!(entry, FunctionEntry, first_edge, first[1]);
        put!(entry, FunctionEntry, edges, count[1]);
        put!(entry, FunctionEntry, first_call, first[2]);
        put!(entry, FunctionEntry, calls, count[2]);
        put!(entry, FunctionEntry, flags, function.flags);
        first = std::array::from_fn(|i| first[i] + count[i]);
    }
    let all_blocks = functions.iter().flat_map(|f| &f.blocks);
    for (block, entry) in all_blocks.zip(block_bytes.chunks_exact_mut(size_of::<BlockEntry>())) {
        put_block(entry, block, strings);
    }
    let all_edges = functions.iter().flat_map(|f| &f.edges);
    for (edge, entry) in all_edges.zip(edge_bytes.chunks_exact_mut(size_of::<EdgeEntry>())) {
        put_edge(entry, edge);
    }
    let all_calls = functions.iter().flat_map(|f| &f.calls);
    for (call, entry) in all_calls.zip(call_bytes.chunks_exact_mut(size_of::<CallEntry>())) {
        put_call(entry, call, strings);
    }
}

fn put_block(entry: &mut [u8], block: &Block, strings: &mut Strings) {
    put!(entry, BlockEntry, region, block.region);
    put!(entry, BlockEntry, file, strings.add(&block.file));
    put!(entry, BlockEntry, line, block.line);
    put!(entry, BlockEntry, end_line, block.end_line);
    put!(entry, BlockEntry, opcodes, block.opcodes);
    put!(entry, BlockEntry, reads, block.reads);
    put!(entry, BlockEntry, writes, block.writes);
}

fn put_edge(entry: &mut [u8], edge: &Edge) {
    put!(entry, EdgeEntry, from, edge.from.unwrap_or(OUTSIDE));
    put!(entry, EdgeEntry, to, edge.to.unwrap_or(OUTSIDE));
    put!(entry, EdgeEntry, counter, edge.counter.map_or(0, |c| c + 1));
    put!(entry, EdgeEntry, line, edge.line);
    put!(entry, EdgeEntry, flags, edge.flags);
}

fn put_call(entry: &mut [u8], call: &Call, strings: &mut Strings) {
    put!(entry, CallEntry, block, call.block);
    put!(entry, CallEntry, callee, strings.add(&call.callee));
    put!(entry, CallEntry, flags, call.flags);
    put!(entry, CallEntry, line, call.line);
}
