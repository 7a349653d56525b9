//! How a question about a loop or a nest ([`crate::hooks::LOOP`], [`crate::hooks::NEST`]) says what is accessed.
//!
//! Most of it is constant: strides, sizes, sites, distances between accesses. So that is a table in read-only data, a
//! row for each access, and the program stores only the values that are known when it runs, each of them once, however
//! many rows it is part of. Where all of it was stored for each question, a function with four nests had 346 stores and
//! 3 439 instructions of LLVM; it has 152 and 2 784, of which some are products that were multiplied again and again.
//! The runtime puts [`Access`] and [`NestAccess`] together.
//!
//! The arguments of both hooks: the table, the number of rows (and flags), the values as an array of 64-bit words, and
//! the [`ModuleBases`] of the module, whose own numbers the sites of a table are.

use crate::loops::{Access, NestAccess, STEPS, Step, WRITE};
use crate::module::ModuleBases;

/// A number of a table: twice a constant, or twice the number of a value, plus 1.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(u64);

impl Number {
    /// A constant, if 63 bits hold it.
    pub const fn constant(constant: i64) -> Option<Number> {
        let doubled = (constant as u64) << 1;
        if doubled as i64 >> 1 == constant { Some(Number(doubled)) } else { None }
    }

    /// The value of this number.
    pub const fn value(number: u32) -> Number {
        Number((number as u64) << 1 | 1)
    }

    /// The word of the table.
    pub const fn word(self) -> u64 {
        self.0
    }

    /// What the number is.
    ///
    /// # Safety
    /// `values` are those that the number's table was made for.
    #[inline(always)]
    pub const unsafe fn get(self, values: *const u64) -> u64 {
        if self.0 & 1 == 0 {
            return (self.0 as i64 >> 1) as u64;
        }
        // SAFETY: the caller's promise.
        unsafe { values.add((self.0 >> 1) as usize).read() }
    }
}

/// What the rows of both tables begin with.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// Distance of the first access from the address.
    pub first: i64,
    /// Bytes of one access.
    pub bytes: u32,
    /// As in [`Access::flags`].
    pub flags: u32,
    /// Number of the site in the module.
    pub site: u32,
    /// As in [`Access::window`].
    pub window: u32,
    /// The address.
    pub address: Number,
}

/// 64-bit words of [`Constant`].
const WORDS: usize = size_of::<Constant>() / 8;

impl Constant {
    /// The words of the table.
    pub const fn words(&self) -> [u64; WORDS] {
        [
            self.first as u64,
            self.bytes as u64 | (self.flags as u64) << 32,
            self.site as u64 | (self.window as u64) << 32,
            self.address.word(),
        ]
    }

    /// # Safety
    /// As for [`Number::get`].
    #[inline(always)]
    unsafe fn address(&self, values: *const u64) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { self.address.get(values) }.wrapping_add_signed(self.first)
    }

    /// The global site: see [`Access::site`].
    #[inline(always)]
    const fn site(&self, bases: &ModuleBases) -> u32 {
        let base = if self.flags & WRITE == 0 { bases.site_base } else { bases.write_site_base };
        base.wrapping_add(self.site)
    }
}

/// A row of [`crate::hooks::LOOP`]'s table.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LoopRow {
    /// What is accessed where.
    pub constant: Constant,
    /// Bytes from one iteration to the next.
    pub stride: Number,
}

impl LoopRow {
    /// The access that the row describes.
    ///
    /// # Safety
    /// `values` are those that the row's table was made for.
    #[inline(always)]
    pub unsafe fn access(&self, values: *const u64, bases: &ModuleBases) -> Access {
        let Constant { bytes, flags, window, .. } = self.constant;
        // SAFETY: the caller's promise.
        let (address, stride) = unsafe { (self.constant.address(values), self.stride.get(values) as i64) };
        Access { address, stride, bytes, flags, site: self.constant.site(bases), window }
    }
}

/// A row of [`crate::hooks::NEST`]'s table.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NestRow {
    /// What is accessed where.
    pub constant: Constant,
    /// Stride and iterations of each loop, innermost first.
    pub steps: [[Number; 2]; STEPS],
}

impl NestRow {
    /// The access that the row describes, if the nest makes it.
    ///
    /// # Safety
    /// `values` are those that the row's table was made for.
    #[inline(always)]
    pub unsafe fn access(&self, values: *const u64, bases: &ModuleBases) -> Option<NestAccess> {
        let Constant { bytes, flags, window, .. } = self.constant;
        // SAFETY: the caller's promise.
        let address = unsafe { self.constant.address(values) };
        // SAFETY: as above.
        let number = |number: Number| unsafe { number.get(values) };
        let steps = self.steps.map(|[stride, count]| Step { stride: number(stride) as i64, count: number(count) });
        let runs = steps.iter().all(|step| step.count > 0);
        runs.then(|| NestAccess { address, bytes, flags, site: self.constant.site(bases), window, steps })
    }
}

const _: () = assert!(size_of::<LoopRow>() == 40 && size_of::<NestRow>() == 80);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_a_constant_or_a_value() {
        let values = [7, u64::MAX];
        // SAFETY: two values.
        let get = |number: Number| unsafe { number.get(values.as_ptr()) };
        for constant in [0, 1, -1, 8, i64::MAX >> 1, i64::MIN >> 1] {
            assert_eq!(Number::constant(constant).map(get), Some(constant as u64));
        }
        assert_eq!([i64::MAX, i64::MIN, 1 << 62].map(Number::constant), [None; 3]);
        assert_eq!([0, 1].map(|number| get(Number::value(number))), values);
    }

    #[test]
    fn rows_are_put_together_from_their_words_values_and_bases() {
        let bases = ModuleBases { site_base: 100, write_site_base: 200, ..ModuleBases::default() };
        let constant = Constant { first: -16, bytes: 8, flags: 0, site: 5, window: 3, address: Number::value(1) };
        let row = LoopRow { constant, stride: Number::constant(-8).unwrap() };
        let values = [48, 4096];
        // SAFETY: two values.
        let access = unsafe { row.access(values.as_ptr(), &bases) };
        assert_eq!((access.address, access.stride, access.bytes), (4080, -8, 8));
        assert_eq!((access.flags, access.site, access.window), (0, 105, 3));

        let [one, none] = [1, 0].map(|n| Number::constant(n).unwrap());
        let steps = [[Number::constant(8).unwrap(), Number::value(0)], [none, one], [none, one]];
        let row = NestRow { constant: Constant { flags: WRITE, ..constant }, steps };
        // SAFETY: two values.
        let access = unsafe { row.access(values.as_ptr(), &bases) }.unwrap();
        assert_eq!((access.address, access.site, access.steps[0]), (4080, 205, Step { stride: 8, count: 48 }));
        assert_eq!(access.steps[1..], [Step { stride: 0, count: 1 }; 2]);
        // SAFETY: two values.
        assert!(unsafe { row.access([0, 4096].as_ptr(), &bases) }.is_none(), "its loop has no iterations");

        let Constant { first, bytes, flags, site, window, address } = row.constant;
        // SAFETY: plain numbers without padding.
        let words: [u64; WORDS] = unsafe { core::mem::transmute(row.constant) };
        assert_eq!(Constant { first, bytes, flags, site, window, address }.words(), words);
    }
}
