//! Machine code as a graph: which functions reach which, and how long ways through a function are. From `llvm-objdump`;
//! only classes of instructions are looked at, so that another choice of registers or another order of blocks changes
//! nothing.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::path::Path;
use std::process::Command;

/// What an instruction does to the flow of control or to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Goes on with the next one.
    Plain,
    /// A call.
    Call,
    /// A jump to an address in the function (`None`: to another function or through a register).
    Jump(Option<u64>),
    /// A jump that may not be taken.
    Branch(Option<u64>),
    /// A return.
    Return,
    /// A trap: nothing follows.
    Stop,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Address in its section.
    pub address: u64,
    /// Without prefixes.
    pub mnemonic: String,
    /// It has a lock prefix, or is an exchange with memory, which locks without.
    pub locks: bool,
    /// It names a vector register.
    pub vector: bool,
    /// What comes next.
    pub class: Class,
}

/// One function.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// In a section for unlikely code: `#[cold]` in the source.
    pub cold: bool,
    /// In the order of addresses.
    pub instructions: Vec<Instruction>,
    /// Names that its relocations mention: what it calls or takes the address of.
    pub mentions: BTreeSet<String>,
}

/// All functions of an object file or archive by their (mangled) names.
#[derive(Clone, Debug, Default)]
pub struct Code(pub BTreeMap<String, Function>);

impl Code {
    /// Disassembles a file.
    pub fn of(file: &Path) -> Result<Self, String> {
        let done = Command::new("llvm-objdump-19")
            .args(["--disassemble", "--reloc", "--no-show-raw-insn"])
            .arg(file)
            .output()
            .map_err(|e| format!("llvm-objdump-19: {e}"))?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into_owned());
        }
        Ok(Self::parse(&String::from_utf8_lossy(&done.stdout)))
    }

    /// Reads what `llvm-objdump --disassemble --reloc --no-show-raw-insn` printed.
    pub fn parse(text: &str) -> Self {
        let mut code = Self::default();
        let (mut name, mut section) = (String::new(), "");
        // The functions of each section by their addresses, and who mentions what.
        let mut places: BTreeMap<&str, BTreeMap<u64, &str>> = BTreeMap::new();
        let mut mentions = Vec::new();
        for line in text.lines() {
            if let Some(begun) = line.strip_prefix("Disassembly of section ") {
                section = begun.trim_end_matches(':');
            } else if let Some((address, function)) = header(line) {
                name = function.to_owned();
                code.0.entry(name.clone()).or_default().cold = section.starts_with(".text.unlikely");
                places.entry(section).or_default().insert(address, function);
            } else if let Some(function) = code.0.get_mut(&name) {
                if let Some((_, relocation)) = line.split_once("R_X86_64_") {
                    mentions.extend(target(relocation).map(|to| (name.clone(), to)));
                } else if let Some(instruction) = instruction(line, &name) {
                    function.instructions.push(instruction);
                }
            }
        }
        for (from, (to, address)) in mentions {
            let held = places.get(to).and_then(|functions| functions.range(..=address).next_back());
            let to = held.map_or(to, |(_, function)| function);
            code.0.entry(from).or_default().mentions.insert(to.to_owned());
        }
        code
    }

    /// The functions that `root` reaches, itself included; through cold ones only if `through_cold`.
    pub fn reached(&self, root: &str, through_cold: bool) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open = vec![root];
        while let Some(name) = open.pop() {
            let Some((name, function)) = self.0.get_key_value(name) else { continue };
            if (through_cold || !function.cold) && reached.insert(name.as_str()) {
                open.extend(function.mentions.iter().map(String::as_str));
            }
        }
        reached
    }
}

impl Function {
    /// Fewest instructions from the entry to a return without a call on the way.
    pub fn shortest_way(&self) -> Option<usize> {
        self.shortest(0, |i| i.class == Class::Return)
    }

    /// Fewest instructions from a jump's target back to that jump without a call on the way: an iteration of the
    /// innermost loop in its usual case.
    pub fn shortest_iteration(&self) -> Option<usize> {
        let back = self.instructions.iter().filter_map(|jump| match jump.class {
            Class::Jump(Some(to)) | Class::Branch(Some(to)) if to <= jump.address => Some((to, jump.address)),
            _ => None,
        });
        let ways = back.filter_map(|(to, from)| self.shortest(self.number(to)?, |i| i.address == from));
        ways.min()
    }

    fn number(&self, address: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&address, |i| i.address).ok()
    }

    fn shortest(&self, from: usize, ends: impl Fn(&Instruction) -> bool) -> Option<usize> {
        let mut done = BTreeSet::new();
        let mut open = BinaryHeap::from([(std::cmp::Reverse(1), from)]);
        while let Some((std::cmp::Reverse(steps), at)) = open.pop() {
            let Some(instruction) = self.instructions.get(at) else { continue };
            if !done.insert(at) || instruction.class == Class::Call || instruction.locks {
                continue;
            }
            if ends(instruction) {
                return Some(steps);
            }
            let jump = match instruction.class {
                Class::Jump(to) | Class::Branch(to) => to.and_then(|to| self.number(to)),
                _ => None,
            };
            let next = matches!(instruction.class, Class::Plain | Class::Branch(_)).then_some(at + 1);
            open.extend(jump.into_iter().chain(next).map(|at| (std::cmp::Reverse(steps + 1), at)));
        }
        None
    }
}

/// `0000000000000010 <name>:`
fn header(line: &str) -> Option<(u64, &str)> {
    let (address, rest) = line.split_once(" <")?;
    let address = u64::from_str_radix(address, 16).ok().filter(|_| address.len() == 16)?;
    Some((address, rest.strip_suffix(">:")?))
}

/// The name in `PLT32 .text+0x1c`, and the address behind it that is meant: relocations are relative to the end of
/// their four bytes.
fn target(relocation: &str) -> Option<(&str, u64)> {
    let name = relocation.split_whitespace().nth(1)?;
    let Some((name, digits)) = name.rsplit_once(['+', '-']).filter(|(_, by)| by.starts_with("0x")) else {
        return Some((name, 0));
    };
    let by = i64::from_str_radix(digits.trim_start_matches("0x"), 16).ok()?;
    let is_less = relocation.trim_end().ends_with(&format!("-{digits}"));
    let address = if is_less { 4 - by } else { by + 4 };
    Some((name, u64::try_from(address).unwrap_or(0)))
}

fn instruction(line: &str, function: &str) -> Option<Instruction> {
    let (address, text) = line.trim_start().split_once(':')?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let mut words = text.split_whitespace().peekable();
    let mut locked = false;
    while let Some(prefix) = words.next_if(|w| matches!(*w, "lock" | "rep" | "repne" | "notrack" | "data16" | "bnd")) {
        locked |= prefix == "lock";
    }
    let mnemonic = words.next()?.to_owned();
    let operands = words.collect::<Vec<_>>().join(" ");
    // `0x1f <function+0x1f>`: inside the function only if it says so.
    let inside =
        operands.split_once(" <").filter(|(_, place)| place.trim_end_matches('>').split('+').next() == Some(function));
    let to = inside.and_then(|(to, _)| u64::from_str_radix(to.trim_start_matches("0x"), 16).ok());
    let class = match mnemonic.as_str() {
        m if m.starts_with("call") => Class::Call,
        m if m.starts_with("jmp") => Class::Jump(to),
        m if m.starts_with('j') => Class::Branch(to),
        m if m.starts_with("ret") => Class::Return,
        "ud2" | "hlt" | "int3" => Class::Stop,
        _ => Class::Plain,
    };
    let locks = locked || (mnemonic.starts_with("xchg") && operands.contains('('));
    let vector = ["%xmm", "%ymm", "%zmm"].iter().any(|register| operands.contains(register));
    Some(Instruction { address, mnemonic, locks, vector, class })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Disassembly of section .text.f:

0000000000000000 <f>:
       0:\ttestq\t%rdi, %rdi
       3:\tje\t0xa <f+0xa>
       5:\tcallq\t0xa <f+0xa>
\t\t0000000000000006:  R_X86_64_PLT32\t.text.unlikely+0xc
       a:\tlock\t\tincq\t(%rdi)
       e:\tjne\t0x0 <f>
      10:\tretq

Disassembly of section .text.unlikely:

0000000000000000 <h>:
       0:\tcallq\t0x5 <h+0x5>
\t\t0000000000000001:  R_X86_64_PLT32\tmalloc-0x4
       5:\tretq
0000000000000010 <g>:
      10:\tdivq\t%rcx
      11:\tmovq\t%rax, %xmm1
      13:\tjmp\t0x0 <h>
";

    #[test]
    fn functions_instructions_and_relocations_are_read() {
        let code = Code::parse(TEXT);
        let f = &code.0["f"];
        assert_eq!((f.cold, code.0["g"].cold), (false, true));
        let classes: Vec<Class> = f.instructions.iter().map(|i| i.class).collect();
        let branch = |to| Class::Branch(Some(to));
        assert_eq!(classes, [Class::Plain, branch(10), Class::Call, Class::Plain, branch(0), Class::Return]);
        let locks: Vec<&str> = f.instructions.iter().filter(|i| i.locks).map(|i| i.mnemonic.as_str()).collect();
        assert_eq!(locks, ["incq"]);
        let vector = |name: &str| code.0[name].instructions.iter().map(|i| i.vector).collect::<Vec<_>>();
        assert_eq!((vector("f"), vector("g")), (vec![false; 6], vec![false, true, false]));
        assert_eq!(code.0["g"].instructions[2].class, Class::Jump(None), "into another function");
        assert_eq!(code.reached("f", false).into_iter().collect::<Vec<_>>(), ["f"]);
        assert_eq!(code.reached("f", true).into_iter().collect::<Vec<_>>(), ["f", "g"]);
        assert_eq!(code.0["h"].mentions.iter().collect::<Vec<_>>(), ["malloc"]);
    }

    #[test]
    fn ways_avoid_calls_and_locks() {
        let text = TEXT.replace("lock\t\tincq", "incq");
        let f = Code::parse(&text).0["f"].clone();
        assert_eq!((f.shortest_way(), f.shortest_iteration()), (Some(5), Some(4)));
        let f = Code::parse(TEXT).0["f"].clone();
        assert_eq!((f.shortest_way(), f.shortest_iteration()), (None, None));
    }
}
