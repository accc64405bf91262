//! Sorting many elements by an integer: digit by digit, from the lowest to the highest. The ids and ordinals of an
//! answer share most of their upper bits, so that few digits are left to sort by.

/// Bits of a digit.
const BITS: u32 = 8;
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
    let mut other = vec![first; items.len()];
    for shift in (0..u64::BITS).step_by(BITS as usize) {
        let digit = |item: &T| (key(item) >> shift & ((1 << BITS) - 1)) as usize;
        if differing >> shift & ((1 << BITS) - 1) == 0 {
            continue;
        }
        let mut counts = [0_usize; 1 << BITS];
        items.iter().for_each(|item| counts[digit(item)] += 1);
        let mut start = 0;
        for count in &mut counts {
            start += std::mem::replace(count, start);
        }
        for item in items.iter() {
            let place = &mut counts[digit(item)];
            other[*place] = *item;
            *place += 1;
        }
        std::mem::swap(items, &mut other);
    }
}

/// The key of a signed integer.
pub fn signed(value: i64) -> u64 {
    value as u64 ^ 1 << 63
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
}
