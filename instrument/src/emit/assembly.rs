//! One piece of inline assembly: its text, its operands and what it may change.

use super::{Emitted, ModuleEmitter};
use crate::error::PassError;
use crate::llvm;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::types::{AnyType, BasicTypeEnum};
use inkwell::values::{
    AggregateValue, AsValueRef, BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, IntValue, PointerValue,
    VectorValue,
};

/// What every piece may change besides its outputs. For each register that is named here LLVM looks through the names
/// of all registers of all classes, twice. So r11 is an output, of which it finds the first class that fits, and
/// nothing is said of what neither the text nor what it calls touches: the direction flag and the x87 unit.
const CLOBBERS: &str = "~{memory},~{flags}";

/// And masks of 16 bits, which gates do not keep: naming them takes a sixth of the time that such code takes to
/// compile.
const MASKS: &str = "~{k0},~{k1},~{k2},~{k3},~{k4},~{k5},~{k6},~{k7},~{memory},~{flags}";

/// A piece that is being written. Operands are named by number, outputs first.
pub(super) struct Assembly<'ctx> {
    text: Vec<String>,
    outputs: Vec<(&'static str, BasicTypeEnum<'ctx>)>,
    inputs: Vec<(&'static str, BasicMetadataValueEnum<'ctx>)>,
    /// The operand that holds the thread's control block, once something of it is named.
    header: Option<(PointerValue<'ctx>, String)>,
}

impl<'ctx> Assembly<'ctx> {
    /// A piece that works in rdi, which is output 0 and comes first in `outputs`, in the others of them, and in r11.
    /// Nobody wants their values.
    pub fn new(mut outputs: Vec<(&'static str, BasicTypeEnum<'ctx>)>) -> Self {
        outputs.extend(outputs.first().map(|(_, ty)| ("=&{r11}", *ty)));
        Assembly { text: Vec::new(), outputs, inputs: Vec::new(), header: None }
    }

    /// A field of the thread's control block. All pieces of a function want that pointer, so that it has a register;
    /// values of the block would need one each, from the function's beginning to its end.
    pub fn field(&mut self, header: PointerValue<'ctx>, offset: u64) -> String {
        let register = match &self.header {
            Some((known, register)) if *known == header => register.clone(),
            _ => self.register(header),
        };
        let field = format!("{offset}({register})");
        self.header = Some((header, register));
        field
    }

    /// An element of an array of 8-byte words in the thread's control block; `index` is a register.
    pub fn element(&mut self, header: PointerValue<'ctx>, offset: u64, index: &str) -> String {
        let field = self.field(header, offset);
        field.replace(')', &format!(",{index},8)"))
    }

    /// A value that comes in output 0's register.
    pub fn first(&mut self, value: IntValue<'ctx>) {
        self.inputs.push(("0", value.into()));
    }

    /// A value in a general register; how the text names all 64 bits of it.
    pub fn register(&mut self, value: impl Into<BasicMetadataValueEnum<'ctx>>) -> String {
        format!("${{{}:q}}", self.input("r", value.into()))
    }

    /// A value in a vector register; the number of the operand.
    pub fn vector(&mut self, value: VectorValue<'ctx>) -> usize {
        self.input("x", value.into())
    }

    /// What lies at an address, by whatever addressing mode: the pointer needs no register of its own.
    pub fn memory(&mut self, pointer: PointerValue<'ctx>) -> String {
        format!("${}", self.input("*m", pointer.into()))
    }

    /// Puts an address into a register.
    pub fn address(&mut self, pointer: PointerValue<'ctx>, to: &str) {
        // Where a variable of the thread's own is, LLVM writes as `%fs:x@TPOFF`, and `lea` knows no segments.
        let line = match llvm::is_thread_local(pointer.as_value_ref()) {
            true => format!("movq {}, {to}", self.register(pointer)),
            false => format!("leaq {}, {to}", self.memory(pointer)),
        };
        self.line(line);
    }

    /// The number of an operand: that which the value has already, or the next one.
    fn input(&mut self, constraint: &'static str, value: BasicMetadataValueEnum<'ctx>) -> usize {
        let same = |(known, other): &(&str, BasicMetadataValueEnum<'ctx>)| (*known, *other) == (constraint, value);
        let number = self.inputs.iter().position(same).unwrap_or_else(|| {
            self.inputs.push((constraint, value));
            self.inputs.len() - 1
        });
        self.outputs.len() + number
    }

    /// One instruction, or a label.
    pub fn line(&mut self, text: impl Into<String>) {
        self.text.push(text.into());
    }
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Puts the piece at the builder's place, and gives what it leaves in output 0.
    pub(super) fn assemble_for_result(&self, piece: Assembly<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let outputs = self.assemble_call(piece)?.try_as_basic_value().basic();
        let outputs = outputs.ok_or(PassError::Invalid("assembly without outputs".into()))?;
        Ok(self.builder.build_extract_value(outputs.into_struct_value().as_aggregate_value_enum(), 0, "")?)
    }

    /// Puts the piece at the builder's place.
    pub(super) fn assemble(&self, piece: Assembly<'ctx>) -> Emitted<()> {
        self.assemble_call(piece).map(drop)
    }

    fn assemble_call(&self, piece: Assembly<'ctx>) -> Emitted<CallSiteValue<'ctx>> {
        let function = self.here()?.get_parent().ok_or(PassError::Invalid("block without function".into()))?;
        let clobbers = if self.kept(function).loses_masks() { MASKS } else { CLOBBERS };
        let outputs = piece.outputs.iter().map(|(constraint, _)| *constraint);
        let inputs = piece.inputs.iter().map(|(constraint, _)| *constraint);
        let constraints = outputs.chain(inputs).chain([clobbers]).collect::<Vec<_>>().join(",");
        let types: Vec<_> = piece.outputs.iter().map(|(_, ty)| *ty).collect();
        let values: Vec<_> = piece.inputs.iter().map(|(_, value)| *value).collect();
        let parameters: Vec<_> = values
            .iter()
            .map(|value| match value {
                BasicMetadataValueEnum::IntValue(v) => Ok(v.get_type().into()),
                BasicMetadataValueEnum::PointerValue(v) => Ok(v.get_type().into()),
                BasicMetadataValueEnum::VectorValue(v) => Ok(v.get_type().into()),
                other => Err(PassError::Invalid(format!("no operand of assembly: {other}"))),
            })
            .collect::<Emitted<_>>()?;
        let ty = self.context.struct_type(&types, false).fn_type(&parameters, false);
        let text = piece.text.join("\n\t");
        let pointer = self.context.create_inline_asm(ty, text, constraints, true, false, None, false);
        let call = self.builder.build_indirect_call(ty, pointer, &values, "")?;
        // LLVM does not know that something is called, and would keep what it likes below the stack pointer.
        let red_zone = Attribute::get_named_enum_kind_id("noredzone");
        function.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(red_zone, 0));
        let element = Attribute::get_named_enum_kind_id("elementtype");
        let byte = self.context.create_type_attribute(element, self.context.i8_type().as_any_type_enum());
        for (i, _) in piece.inputs.iter().enumerate().filter(|(_, (constraint, _))| *constraint == "*m") {
            call.add_attribute(AttributeLoc::Param(i as u32), byte);
        }
        Ok(call)
    }
}
