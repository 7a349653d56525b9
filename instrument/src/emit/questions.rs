//! What the runtime is asked about a loop or a nest with: [`threadtalk_abi::question`].

use super::{Emitted, ModuleEmitter};
use crate::access::Direction;
use crate::error::PassError;
use crate::llvm;
use crate::optimise::whole_loops::{OfferedAccess, Strand};
use crate::tables::SiteId;
use inkwell::module::Linkage;
use inkwell::values::{AsValueRef, BasicMetadataValueEnum, BasicValue, BasicValueEnum, IntValue, PointerValue};
use inkwell::values::{FunctionValue, UnnamedAddress};
use threadtalk_abi::loops;
use threadtalk_abi::question::{Constant, Number};

/// A question that is being put together.
#[derive(Default)]
pub(super) struct Question<'ctx> {
    /// The rows of the table, as they are in memory.
    words: Vec<u64>,
    rows: u32,
    /// What is known at run time.
    values: Vec<BasicValueEnum<'ctx>>,
}

/// What the row of an access begins with.
pub(super) struct Row<'ctx> {
    /// Read or write.
    pub direction: Direction,
    /// Where in the source.
    pub site: SiteId,
    /// Bytes of one access.
    pub bytes: u64,
    /// More than the direction's.
    pub flags: u32,
    /// As in the runtime's description.
    pub window: u32,
    /// The address, but for `first`.
    pub address: PointerValue<'ctx>,
    /// Distance from the address.
    pub first: i64,
}

impl<'ctx> Question<'ctx> {
    /// Begins the row of an access.
    pub fn begin(&mut self, row: &Row<'ctx>) -> Emitted<()> {
        let flags = if row.direction == Direction::Write { loops::WRITE } else { 0 };
        let bytes = u32::try_from(row.bytes).map_err(|_| PassError::Invalid("an access of 4 GiB".into()))?;
        let address = self.value(row.address.into());
        let Row { first, window, .. } = *row;
        let constant = Constant { first, bytes, flags: flags | row.flags, site: row.site.0, window, address };
        self.words.extend(constant.words());
        self.rows += 1;
        Ok(())
    }

    /// Adds the row of a loop's access. `flags`: more than its own.
    pub fn add_access(&mut self, access: &OfferedAccess<'ctx>, (flags, window): (u32, u32)) -> Emitted<()> {
        let Strand { direction, site, bytes, first, order, reads_first, piece, whole, .. } = access.strand;
        let flags = flags | order.flags() | if reads_first { loops::READ_FIRST } else { 0 };
        let is_joined = direction == Direction::Read && !whole && bytes > piece;
        let flags = flags | if is_joined { loops::pieces(piece).unwrap_or(0) } else { 0 };
        self.begin(&Row { direction, site, bytes, flags, window, address: access.address, first })?;
        self.add(access.stride);
        Ok(())
    }

    /// Adds a number to the row.
    pub fn add(&mut self, number: IntValue<'ctx>) {
        let constant = llvm::constant(number.as_value_ref()).and_then(|n| Number::constant(n as i64));
        let number = constant.unwrap_or_else(|| self.value(number.into()));
        self.words.push(number.word());
    }

    fn value(&mut self, value: BasicValueEnum<'ctx>) -> Number {
        let known = self.values.iter().position(|other| *other == value);
        let number = known.unwrap_or_else(|| {
            self.values.push(value);
            self.values.len() - 1
        });
        Number::value(number as u32)
    }

    /// The number of rows.
    pub fn rows(&self) -> u32 {
        self.rows
    }
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Room for the values of each of these questions in the function's frame.
    pub(super) fn room(&self, function: FunctionValue<'ctx>, all: &[Question<'ctx>]) -> Emitted<PointerValue<'ctx>> {
        let entry = function.get_first_basic_block().and_then(|b| b.get_first_instruction());
        self.builder.position_before(&entry.ok_or(PassError::Invalid("empty function".into()))?);
        let most = all.iter().map(|question| question.values.len()).max().unwrap_or(0);
        Ok(self.builder.build_alloca(self.i64.array_type(most as u32), "")?)
    }

    /// Stores the values of a question, and makes its table. Returns the hook's first and its last arguments.
    #[allow(clippy::type_complexity)] // two parts of one list
    pub(super) fn put(
        &self,
        question: &Question<'ctx>,
        room: PointerValue<'ctx>,
    ) -> Emitted<(BasicMetadataValueEnum<'ctx>, [BasicMetadataValueEnum<'ctx>; 2])> {
        for (number, value) in question.values.iter().enumerate() {
            self.builder.build_store(self.offset(room, 8 * number as u64)?, *value)?;
        }
        let words: Vec<_> = question.words.iter().map(|&word| self.c64(word)).collect();
        let table = self.i64.const_array(&words);
        let table = self.private_constant(table, "threadtalk.rows");
        Ok((table.into(), [room.into(), self.bases.as_pointer_value().into()]))
    }

    /// What the runtime reads of the module, of which only the content matters.
    pub(super) fn private_constant(&self, value: impl BasicValue<'ctx>, name: &str) -> PointerValue<'ctx> {
        let global = self.module.add_global(value.as_basic_value_enum().get_type(), None, name);
        global.set_initializer(&value);
        global.set_constant(true);
        global.set_linkage(Linkage::Private);
        global.set_unnamed_address(UnnamedAddress::Global);
        global.set_alignment(8);
        global.as_pointer_value()
    }
}
