//! Effects of C library functions.

use super::{Emitted, ModuleEmitter, Site};
use crate::access::When;
use crate::error::PassError;
use crate::library::{Allocator, Effect, Length, Limit};
use crate::llvm;
use inkwell::IntPredicate;
use inkwell::values::{
    AsValueRef, BasicMetadataValueEnum, BasicValueEnum, FunctionValue, InstructionValue, IntValue, PointerValue,
};
use threadtalk_abi::hooks::{self, Hook};

/// What `isspace` accepts.
const WHITE_SPACE: &str = "\t\n\u{b}\u{c}\r ";
/// Characters of decimal numbers.
const DECIMAL: &str = "+-0123456789";
/// Characters of numbers in any notation: `0x1.8p-3`, `inf`, `nan`.
const NUMBER: &str = "+-.0123456789abcdefABCDEFxXpPinftyINTY";

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Emits one effect of a call at the builder's place, which is before or after it.
    pub fn library(&self, call: InstructionValue<'ctx>, effect: Effect, when: When, site: Site<'ctx>) -> Emitted<()> {
        debug_assert_eq!(effect.is_after(), when == When::After);
        let pointer = |argument| llvm::pointer_operand(call, argument);
        let limit = |limit, argument| self.limit(call, limit, pointer(argument));
        match effect {
            Effect::Read(p, length) | Effect::ReadAfter(p, length) => {
                self.ranged(hooks::READ_RANGE, pointer(p), self.length(call, length)?, site)
            }
            Effect::Write(p, length) => self.ranged(hooks::WRITE_RANGE, pointer(p), self.length(call, length)?, site),
            Effect::Copy(to, from, length) => {
                let bytes = self.length(call, length)?;
                let arguments =
                    [pointer(to).into(), pointer(from).into(), bytes.into(), self.global_site(site)?.into()];
                self.call_directly(hooks::COPY, &arguments).map(drop)
            }
            Effect::ReadString(p, l) | Effect::ReadStringAfter(p, l) => {
                self.ranged(hooks::READ_STRING, pointer(p), limit(l, p)?, site)
            }
            Effect::WriteString(p, l) => {
                let bytes = self.if_succeeded(call, limit(l, p)?)?;
                self.ranged(hooks::WRITE_STRING, pointer(p), bytes, site)
            }
            Effect::ReadAppendable(p) => self.read_appendable(call, pointer(p), site),
            Effect::Append(p) => self.append(call, pointer(p), site),
            Effect::NewString => {
                let made = llvm::result(call).into_pointer_value();
                let bytes = self.if_succeeded(call, self.c64(u64::MAX))?;
                self.ranged(hooks::WRITE_STRING, made, bytes, site)
            }
            Effect::WriteIndirect(p) => {
                let buffer = self.builder.build_load(self.ptr, pointer(p), "")?.into_pointer_value();
                self.ranged(hooks::WRITE_RANGE, buffer, self.length(call, Length::ResultAndNul)?, site)
            }
        }
    }

    /// Tells the runtime of a new block, after the call that made it.
    pub fn allocation(&self, call: InstructionValue<'ctx>, allocator: Allocator, site: Site<'ctx>) -> Emitted<()> {
        let b = &self.builder;
        let block = || llvm::result(call).into_pointer_value();
        let (block, bytes) = match allocator {
            Allocator::HandsOn => return self.handed_on(block(), site),
            Allocator::Fills => {
                let container = llvm::pointer_operand(call, 0);
                return self.handed_on(b.build_load(self.ptr, container, "")?.into_pointer_value(), site);
            }
            Allocator::Bytes(n) => (block(), self.argument(call, n)?),
            Allocator::Product(n, m) => {
                (block(), b.build_int_mul(self.argument(call, n)?, self.argument(call, m)?, "")?)
            }
            Allocator::Indirect(n) => {
                let place = llvm::pointer_operand(call, 0);
                let made = b.build_load(self.ptr, place, "")?.into_pointer_value();
                let status = llvm::result(call).into_int_value();
                let succeeded = self.compare(IntPredicate::EQ, status, status.get_type().const_zero())?;
                let made = b.build_select(succeeded, made, self.ptr.const_null(), "")?.into_pointer_value();
                (made, self.argument(call, n)?)
            }
        };
        self.ranged(hooks::ALLOCATED, block, bytes, site)
    }

    fn handed_on(&self, block: PointerValue<'ctx>, site: Site<'ctx>) -> Emitted<()> {
        self.call_directly(hooks::HANDED_ON, &[block.into(), self.global_site(site)?.into()]).map(drop)
    }

    fn ranged(&self, hook: Hook, pointer: PointerValue<'ctx>, bytes: IntValue<'ctx>, site: Site<'ctx>) -> Emitted<()> {
        self.call_directly(hook, &[pointer.into(), bytes.into(), self.global_site(site)?.into()]).map(drop)
    }

    fn length(&self, call: InstructionValue<'ctx>, length: Length) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        match length {
            Length::Arg(n) => self.argument(call, n),
            Length::Product(n, m) => Ok(b.build_int_mul(self.argument(call, n)?, self.argument(call, m)?, "")?),
            Length::Result => self.if_succeeded(call, self.result(call)?),
            Length::ResultAndNul => self.if_succeeded(call, b.build_int_add(self.result(call)?, self.c64(1), "")?),
            Length::ResultTimes(n) => Ok(b.build_int_mul(self.result(call)?, self.argument(call, n)?, "")?),
            Length::UpToResult(p, n) => {
                self.up_to_result(call, llvm::pointer_operand(call, p), self.argument(call, n)?)
            }
            Length::Decimal(p) => self.number(llvm::pointer_operand(call, p), DECIMAL),
            Length::Number(p) => self.number(llvm::pointer_operand(call, p), NUMBER),
            Length::CommonPrefix(p, q, n) => {
                let limit = n.map_or(Ok(self.c64(u64::MAX)), |n| self.argument(call, n))?;
                self.common_prefix(llvm::pointer_operand(call, p), llvm::pointer_operand(call, q), limit)
            }
        }
    }

    fn limit(&self, call: InstructionValue<'ctx>, limit: Limit, start: PointerValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        match limit {
            Limit::None => Ok(self.c64(u64::MAX)),
            Limit::Arg(n) => self.argument(call, n),
            Limit::UpToResult => self.up_to_result(call, start, self.c64(u64::MAX)),
        }
    }

    fn argument(&self, call: InstructionValue<'ctx>, number: u32) -> Emitted<IntValue<'ctx>> {
        let value = llvm::int_operand(call, number);
        // `fgets` takes an int; a negative one reads nothing.
        if value.get_type().get_bit_width() < 64 {
            return Ok(self.builder.build_int_s_extend(value, self.i64, "")?);
        }
        Ok(value)
    }

    fn result(&self, call: InstructionValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let value = llvm::result(call).into_int_value();
        if value.get_type().get_bit_width() < 64 {
            return Ok(self.builder.build_int_s_extend(value, self.i64, "")?);
        }
        Ok(value)
    }

    /// `bytes`, or 0 if the call's result is null or negative.
    fn if_succeeded(&self, call: InstructionValue<'ctx>, bytes: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let failed = match llvm::result(call) {
            BasicValueEnum::PointerValue(pointer) => b.build_is_null(pointer, "")?,
            BasicValueEnum::IntValue(number) => {
                self.compare(IntPredicate::SLT, number, number.get_type().const_zero())?
            }
            _ => return Ok(bytes),
        };
        Ok(b.build_select(failed, self.c64(0), bytes, "")?.into_int_value())
    }

    /// Bytes from `start` to the byte that the result points to, or `otherwise` if it is null.
    fn up_to_result(
        &self,
        call: InstructionValue<'ctx>,
        start: PointerValue<'ctx>,
        otherwise: IntValue<'ctx>,
    ) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let found = llvm::result(call).into_pointer_value();
        let from = b.build_ptr_to_int(start, self.i64, "")?;
        let to = b.build_ptr_to_int(found, self.i64, "")?;
        let bytes = b.build_int_add(b.build_int_sub(to, from, "")?, self.c64(1), "")?;
        Ok(b.build_select(b.build_is_null(found, "")?, otherwise, bytes, "")?.into_int_value())
    }

    /// White space, characters that can belong to a number, and one more. The C library stops there or a few before.
    fn number(&self, start: PointerValue<'ctx>, characters: &str) -> Emitted<IntValue<'ctx>> {
        let span = self.c_function("strspn", 2)?;
        let blanks = self.call_c(span, &[start.into(), self.text(WHITE_SPACE).into()])?;
        let digits = self.call_c(span, &[self.offset_by(start, blanks)?.into(), self.text(characters).into()])?;
        let b = &self.builder;
        Ok(b.build_int_add(b.build_int_add(blanks, digits, "")?, self.c64(1), "")?)
    }

    fn text(&self, text: &str) -> PointerValue<'ctx> {
        let name = format!("threadtalk.text.{}", text.len());
        if let Some(known) = self.module.get_global(&name) {
            return known.as_pointer_value();
        }
        let content = self.context.const_string(text.as_bytes(), true);
        let global = self.module.add_global(content.get_type(), None, &name);
        global.set_initializer(&content);
        global.set_constant(true);
        global.set_linkage(inkwell::module::Linkage::Private);
        global.as_pointer_value()
    }

    /// Bytes that a comparison of two strings looks at.
    fn common_prefix(
        &self,
        left: PointerValue<'ctx>,
        right: PointerValue<'ctx>,
        limit: IntValue<'ctx>,
    ) -> Emitted<IntValue<'ctx>> {
        let helper = match self.module.get_function(super::prefix::NAME) {
            Some(known) => known,
            None => self.define_common_prefix()?,
        };
        self.call_c(helper, &[left.into(), right.into(), limit.into()])
    }

    /// Reads a string that the call is going to append to, and remembers where it ended.
    fn read_appendable(
        &self,
        call: InstructionValue<'ctx>,
        start: PointerValue<'ctx>,
        site: Site<'ctx>,
    ) -> Emitted<()> {
        let length = self.call_c(self.c_function("strlen", 1)?, &[start.into()])?;
        self.appendable.borrow_mut().insert(call, length);
        self.ranged(hooks::READ_RANGE, start, self.builder.build_int_add(length, self.c64(1), "")?, site)
    }

    /// A string was appended at the place that `read_appendable` found.
    fn append(&self, call: InstructionValue<'ctx>, start: PointerValue<'ctx>, site: Site<'ctx>) -> Emitted<()> {
        let known = self.appendable.borrow().get(&call).copied();
        let length = known.ok_or(PassError::Invalid("append without length".into()))?;
        self.ranged(hooks::WRITE_STRING, self.offset_by(start, length)?, self.c64(u64::MAX), site)
    }

    fn c_function(&self, name: &str, pointers: usize) -> Emitted<FunctionValue<'ctx>> {
        if let Some(known) = self.module.get_function(name) {
            return Ok(known);
        }
        let parameters = vec![self.ptr.into(); pointers];
        Ok(self.module.add_function(name, self.i64.fn_type(&parameters, false), None))
    }

    fn call_c(
        &self,
        function: FunctionValue<'ctx>,
        arguments: &[BasicMetadataValueEnum<'ctx>],
    ) -> Emitted<IntValue<'ctx>> {
        let call = self.builder.build_call(function, arguments, "")?;
        debug_assert!(!call.as_value_ref().is_null());
        Ok(call
            .try_as_basic_value()
            .basic()
            .ok_or(PassError::Invalid("a length has no value".into()))?
            .into_int_value())
    }
}
