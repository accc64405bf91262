//! Sorts many elements by an integer, digit by digit from the lowest to the highest. The ids and ordinals of a result
//! share most of their upper bits, so that only a few digits need sorting.

use super::Ordinal;

/// Bits of a digit: the places that the elements of one pass go to stay in the processor's nearest caches.
const BITS: u32 = 10;
const DIGITS: usize = 1 << BITS;
/// Fewer elements than this are sorted by comparing.
const FEW: usize = 512;

/// Sorts by `key`; elements with the same key keep their order.
pub fn sort<T: Copy>(items: &mut Vec<T>, key: impl Fn(&T) -> u64) {
    let Some(&first) = items.first() else { return };
    if items.len() < FEW {
        return items.sort_by_key(key);
    }
    let first_key = key(&first);
    let differing = items.iter().fold(0, |bits, item| bits | (key(item) ^ first_key));
    let digit = |item: &T, shift: u32| (key(item) >> shift) as usize & (DIGITS - 1);
    let mut other = vec![first; items.len()];
    let mut shift = 0;
    // bits that all share are stepped over
    while let Some(rest) = differing.checked_shr(shift).filter(|&rest| rest != 0) {
        shift += rest.trailing_zeros();
        let mut places = [0_usize; DIGITS];
        items.iter().for_each(|item| places[digit(item, shift)] += 1);
        let mut start = 0;
        for place in &mut places {
            start += std::mem::replace(place, start);
        }
        for item in items.iter() {
            let place = &mut places[digit(item, shift)];
            other[*place] = *item;
            *place += 1;
        }
        std::mem::swap(items, &mut other);
        shift += BITS;
    }
}

/// Returns the key of a signed integer.
pub fn signed(value: i64) -> u64 {
    value as u64 ^ 1 << 63
}

/// Brings values in any order, with duplicates, into a set.
pub fn set(mut values: Vec<Ordinal>) -> Vec<Ordinal> {
    if values.is_sorted() {
        values.dedup();
        return values;
    }
    let (low, high) = values.iter().fold((Ordinal::MAX, 0), |(low, high), &v| (low.min(v), high.max(v)));
    if (high - low) / 64 < values.len() as u64 {
        return by_bits(&values, low, high);
    }
    sort(&mut values, |&value| value);
    values.dedup();
    values
}

/// Sorts values in the narrow range `low` to `high`: sets one bit for each value, then reads the bits in order.
fn by_bits(values: &[Ordinal], low: Ordinal, high: Ordinal) -> Vec<Ordinal> {
    let mut words = vec![0_u64; ((high - low) / 64) as usize + 1];
    values.iter().for_each(|&v| words[((v - low) / 64) as usize] |= 1 << ((v - low) % 64));
    let mut out = Vec::with_capacity(words.iter().map(|word| word.count_ones() as usize).sum());
    for (base, mut word) in (low..).step_by(64).zip(words) {
        while word != 0 {
            out.push(base + u64::from(word.trailing_zeros()));
            word &= word - 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_and_keeps_the_order_of_equals() {
        let mut state = 1_u64;
        for n in [0, 1, 2, FEW - 1, FEW, 5000] {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state >> 44
            };
            let mut items: Vec<(u64, usize)> = (0..n).map(|i| (next() << 13 | 7, i)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|i| i.0);
            sort(&mut items, |i| i.0);
            assert_eq!(items, expected);
        }
    }

    #[test]
    fn sets_are_ascending_without_duplicates() {
        assert_eq!(set(vec![3, 1, 3, 2]), [1, 2, 3]);
        assert_eq!(set(vec![900, 1, 64, 65, 1, 64]), [1, 64, 65, 900]);
        assert_eq!(set(vec![1 << 40, 7, 7]), [7, 1 << 40]);
        assert!(set(Vec::new()).is_empty());
    }
}
