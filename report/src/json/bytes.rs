//! Arrays of bytes as JSON has them, many numbers at once.

/// Bytes that are looked at together.
const GROUP: usize = 8;

/// Longest text of a number, with its comma.
const LONGEST: usize = 4;

/// Each number with a comma behind it, and how long that is.
static NUMBERS: [([u8; LONGEST], u8); 256] = {
    let mut numbers = [([b','; LONGEST], 0); 256];
    let mut number = 0;
    while number < 256 {
        let (mut rest, mut length) = (number, 1 + (number >= 10) as usize + (number >= 100) as usize);
        numbers[number].1 = length as u8 + 1;
        while length > 0 {
            length -= 1;
            numbers[number].0[length] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        number += 1;
    }
    numbers
};

/// Memory for the text of an array.
#[derive(Default)]
pub struct Texts {
    text: Vec<u8>,
}

impl Texts {
    /// The array of these numbers.
    pub fn array(&mut self, bytes: &[u8]) -> &[u8] {
        let room = bytes.len() * LONGEST + 2;
        if self.text.len() < room {
            self.text.resize(room, 0);
        }
        self.text[0] = b'[';
        let mut end = 1;
        let (groups, rest) = bytes.as_chunks::<GROUP>();
        for group in groups {
            // Most are digits, and most of these zeros.
            if are_digits(*group) {
                let pairs = self.text[end..end + 2 * GROUP].as_chunks_mut().0;
                pairs.iter_mut().zip(group).for_each(|(pair, digit)| *pair = [b'0' + digit, b',']);
                end += 2 * GROUP;
            } else {
                end = append(&mut self.text, end, group);
            }
        }
        end = append(&mut self.text, end, rest);
        // The last comma, if there is one, becomes the bracket.
        end -= usize::from(!bytes.is_empty());
        self.text[end] = b']';
        &self.text[..=end]
    }
}

/// Whether all numbers are below 10, asked of all at once.
fn are_digits(group: [u8; GROUP]) -> bool {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const TO_HIGH: u64 = 0x7676_7676_7676_7676; // 128 - 10 each
    let numbers = u64::from_le_bytes(group);
    (numbers | ((numbers & !HIGH) + TO_HIGH)) & HIGH == 0
}

/// Writes numbers from `end` on; gives back where the next one goes.
fn append(text: &mut [u8], mut end: usize, bytes: &[u8]) -> usize {
    for byte in bytes {
        let (number, length) = NUMBERS[usize::from(*byte)];
        text[end..end + LONGEST].copy_from_slice(&number);
        end += usize::from(length);
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_number_is_written() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(Texts::default().array(&all), serde_json::to_vec(&all).unwrap());
    }

    proptest! {
        // One after the other, as what an earlier one leaves must not show.
        #[test]
        fn arrays_are_what_serde_json_writes(
            arrays in prop::collection::vec(prop::collection::vec(prop_oneof![0..12u8, any::<u8>()], 0..40), 0..5)
        ) {
            let mut texts = Texts::default();
            for array in arrays {
                let expected = serde_json::to_vec(&array).unwrap();
                prop_assert_eq!(texts.array(&array), &expected[..]);
            }
        }
    }
}
