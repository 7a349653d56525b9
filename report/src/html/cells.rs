//! The cells of a matrix as text: numbers to the base 32, lowest digit first, in the letters of base64, where a letter
//! of the upper half says that digits follow (the "VLQ" of source maps, without a sign).
//!
//! A browser reads a string of a megabyte as one value, at the speed of memory, and the script takes it apart when its
//! matrix is looked at; a list of numbers would be parsed and stored number by number when the page opens.

use crate::fold::Cell;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Says that digits follow.
const MORE: u64 = 32;

/// For each cell: how many places it is behind the one before (row by row; the first behind place -1), less 1; then
/// `fields` of it. `size`: rows and columns.
pub fn text<const N: usize>(cells: &[Cell], size: usize, fields: impl Fn(&Cell) -> [u64; N]) -> String {
    // Most gaps and counts of large matrices have one letter each.
    let mut letters = Vec::with_capacity(cells.len() * (N + 1));
    let mut next = 0;
    for cell in cells {
        let place = u64::from(cell.writer) * size as u64 + u64::from(cell.reader);
        push(&mut letters, place - next);
        next = place + 1;
        fields(cell).into_iter().for_each(|field| push(&mut letters, field));
    }
    String::from_utf8(letters).expect("letters of base64 are text")
}

fn push(letters: &mut Vec<u8>, mut number: u64) {
    while number >= MORE {
        letters.push(LETTERS[(number % MORE + MORE) as usize]);
        number /= MORE;
    }
    letters.push(LETTERS[number as usize]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the page's script does.
    fn numbers(text: &str) -> Vec<u64> {
        let (mut numbers, mut value, mut scale) = (Vec::new(), 0, 0);
        for letter in text.bytes() {
            let digit = LETTERS.iter().position(|l| *l == letter).unwrap() as u64;
            value |= (digit % MORE) << scale;
            scale += 5;
            if digit < MORE {
                numbers.push(value);
                (value, scale) = (0, 0);
            }
        }
        numbers
    }

    #[test]
    fn small_numbers_are_a_letter() {
        let cell = |writer, reader, raw, rar| Cell { writer, reader, raw, rar, ..Cell::default() };
        let cells = [cell(0, 1, 3, 0), cell(0, 2, 31, 32), cell(2, 0, 1, 1000)];
        assert_eq!(text(&cells, 3, |cell| [cell.raw, cell.rar]), "BDAAfgBDBof");
    }

    proptest! {
        #[test]
        fn cells_come_out_as_they_went_in(
            places in prop::collection::btree_map((0..300u32, 0..300u32), (any::<u64>(), 0..100u64), 0..100),
        ) {
            let cells: Vec<Cell> = places
                .iter()
                .map(|((writer, reader), (raw, rar))| Cell {
                    writer: *writer, reader: *reader, raw: *raw, rar: *rar, ..Cell::default()
                })
                .collect();
            let mut next = 0;
            let mut read = Vec::new();
            for cell in numbers(&text(&cells, 300, |cell| [cell.raw, cell.rar])).chunks(3) {
                let place = next + cell[0];
                next = place + 1;
                read.push(((place / 300) as u32, (place % 300) as u32, cell[1], cell[2]));
            }
            let written: Vec<_> = places.iter().map(|((w, r), (raw, rar))| (*w, *r, *raw, *rar)).collect();
            prop_assert_eq!(read, written);
        }
    }
}
