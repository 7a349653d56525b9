//! The control flow graphs in the tables of a module.

use std::collections::HashSet;
use std::mem::size_of;
use threadtalk_abi::control::{BlockEntry, CallEntry, EdgeEntry, FunctionEntry, OUTSIDE};
use threadtalk_abi::module::TablesHeader;

use super::module::{Strings, array};
use super::record::field;
use crate::tables::{Block, Call, Edge, Function};

/// The bytes of the entries.
pub struct Entries<'a> {
    functions: &'a [u8],
    blocks: &'a [u8],
    edges: &'a [u8],
    calls: &'a [u8],
}

impl<'a> Entries<'a> {
    /// Splits them off what follows the sites; gives back what follows them.
    pub fn split(header: &[u8], bytes: &'a [u8]) -> Result<(Self, &'a [u8]), String> {
        let (functions, rest) = array(bytes, field!(header, TablesHeader, functions), size_of::<FunctionEntry>())?;
        let (blocks, rest) = array(rest, field!(header, TablesHeader, blocks), size_of::<BlockEntry>())?;
        let (edges, rest) = array(rest, field!(header, TablesHeader, edges), size_of::<EdgeEntry>())?;
        let (calls, rest) = array(rest, field!(header, TablesHeader, calls), size_of::<CallEntry>())?;
        Ok((Self { functions, blocks, edges, calls }, rest))
    }

    /// Reads the functions of a module with so many regions and counters.
    pub fn read(mut self, regions: usize, counters: u32, strings: &mut Strings<'_>) -> Result<Vec<Function>, String> {
        let mut counted = Counted { counters, seen: HashSet::new() };
        let mut functions = Vec::new();
        let mut next = [0u32; 3];
        for entry in self.functions.chunks_exact(size_of::<FunctionEntry>()) {
            let region = field!(entry, FunctionEntry, region);
            if region as usize >= regions {
                return Err(format!("a function in region {region}, which it has not"));
            }
            let first = [
                field!(entry, FunctionEntry, first_block),
                field!(entry, FunctionEntry, first_edge),
                field!(entry, FunctionEntry, first_call),
            ];
            let count = [
                field!(entry, FunctionEntry, blocks),
                field!(entry, FunctionEntry, edges),
                field!(entry, FunctionEntry, calls),
            ];
            if first != next || count[0] == 0 {
                return Err("a function whose blocks do not follow those of the one before it".to_owned());
            }
            let blocks = take(&mut self.blocks, count[0], size_of::<BlockEntry>())?;
            let edges = take(&mut self.edges, count[1], size_of::<EdgeEntry>())?;
            let calls = take(&mut self.calls, count[2], size_of::<CallEntry>())?;
            // Cannot overflow: all are lengths of parts of tables whose lengths fit.
            next = std::array::from_fn(|i| first[i] + count[i]);
            functions.push(Function {
                region,
                flags: field!(entry, FunctionEntry, flags),
                blocks: blocks.map(|e| read_block(e, regions, strings)).collect::<Result<_, _>>()?,
                edges: edges.map(|e| read_edge(e, count[0], &mut counted)).collect::<Result<_, _>>()?,
                calls: calls.map(|e| read_call(e, count[0], strings)).collect::<Result<_, _>>()?,
            });
        }
        let is_rest = [self.blocks, self.edges, self.calls].iter().any(|rest| !rest.is_empty());
        if is_rest { Err("blocks that belong to no function".to_owned()) } else { Ok(functions) }
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: u32, size: usize) -> Result<std::slice::ChunksExact<'a, u8>, String> {
    let (taken, rest) = array(bytes, count, size)?;
    *bytes = rest;
    Ok(taken.chunks_exact(size))
}

fn read_block(entry: &[u8], regions: usize, strings: &mut Strings<'_>) -> Result<Block, String> {
    let region = field!(entry, BlockEntry, region);
    if region as usize >= regions {
        return Err(format!("a block in region {region}, which it has not"));
    }
    Ok(Block {
        region,
        file: strings.get(field!(entry, BlockEntry, file))?,
        line: field!(entry, BlockEntry, line),
        end_line: field!(entry, BlockEntry, end_line),
        opcodes: field!(entry, BlockEntry, opcodes),
        reads: field!(entry, BlockEntry, reads),
        writes: field!(entry, BlockEntry, writes),
    })
}

fn read_edge(entry: &[u8], blocks: u32, counted: &mut Counted) -> Result<Edge, String> {
    let node = |number: u32| match number {
        OUTSIDE => Ok(None),
        number if number < blocks => Ok(Some(number)),
        number => Err(format!("an edge at block {number}, which its function has not")),
    };
    let from = node(field!(entry, EdgeEntry, from))?;
    let to = node(field!(entry, EdgeEntry, to))?;
    if from.is_none() && to.is_none() {
        return Err("an edge between no blocks".to_owned());
    }
    let counter = field!(entry, EdgeEntry, counter).checked_sub(1);
    if let Some(counter) = counter {
        counted.note(counter)?;
    }
    Ok(Edge { from, to, counter, line: field!(entry, EdgeEntry, line), flags: field!(entry, EdgeEntry, flags) })
}

fn read_call(entry: &[u8], blocks: u32, strings: &mut Strings<'_>) -> Result<Call, String> {
    let block = field!(entry, CallEntry, block);
    if block >= blocks {
        return Err(format!("a call in block {block}, which its function has not"));
    }
    Ok(Call {
        block,
        callee: strings.get(field!(entry, CallEntry, callee))?,
        flags: field!(entry, CallEntry, flags),
        line: field!(entry, CallEntry, line),
    })
}

/// The counters that edges have, so that no two have the same.
struct Counted {
    counters: u32,
    // A set, not a table by number: a damaged file may claim 2^32 counters.
    seen: HashSet<u32>,
}

impl Counted {
    fn note(&mut self, counter: u32) -> Result<(), String> {
        if counter >= self.counters {
            return Err(format!("an edge with counter {counter}, which it has not"));
        }
        if self.seen.insert(counter) { Ok(()) } else { Err(format!("two edges with counter {counter}")) }
    }
}
