//! Sorts like the reference, which determines the order of elements that compare equal.
//!
//! The reference's sort is not stable. On lists of more than 16 elements it is the introsort of C++ libraries: it uses
//! the median of three as the pivot, leaves parts of up to 16 elements, and finishes with an insertion sort. The order
//! of equal elements depends only on their number, therefore it can be reproduced.

use terrapin_budget as budget;

/// Parts of at most this size are left to the insertion sort.
const SMALL: usize = 16;

/// Sorts like the reference; `less` is a strict weak order.
pub fn sort<T>(list: &mut [T], less: impl Fn(&T, &T) -> bool) {
    let less = |a: &T, b: &T| {
        budget::checkpoint();
        less(a, b)
    };
    let depth = 2 * list.len().checked_ilog2().unwrap_or(0);
    divide(list, &less, depth);
    for i in 1..list.len() {
        let mut to = i;
        while to > 0 && less(&list[i], &list[to - 1]) {
            to -= 1;
        }
        list[to..=i].rotate_right(1);
    }
}

/// Partitions until only parts of a few elements are unsorted. If too many pivots were bad, sorts the part stably
/// instead to bound the time. A list of equal elements never reaches this case.
fn divide<T>(mut list: &mut [T], less: &impl Fn(&T, &T) -> bool, mut depth: u32) {
    while list.len() > SMALL {
        if depth == 0 {
            return list.sort_by(|a, b| less(b, a).cmp(&less(a, b)));
        }
        depth -= 1;
        let pivot = median(list, less);
        list.swap(0, pivot);
        let cut = partition(list, less);
        let (left, right) = list.split_at_mut(cut);
        divide(right, less, depth);
        list = left;
    }
}

/// Returns the index of the median of the second, the middle and the last element.
fn median<T>(list: &[T], less: &impl Fn(&T, &T) -> bool) -> usize {
    let (a, b, c) = (1, list.len() / 2, list.len() - 1);
    let before = |x: usize, y: usize| less(&list[x], &list[y]);
    if before(a, b) {
        if before(b, c) {
            b
        } else if before(a, c) {
            c
        } else {
            a
        }
    } else if before(a, c) {
        a
    } else if before(b, c) {
        c
    } else {
        b
    }
}

/// Moves elements less than the first one before the others. Elements equal to the first one also change places.
fn partition<T>(list: &mut [T], less: &impl Fn(&T, &T) -> bool) -> usize {
    let (mut first, mut last) = (1, list.len());
    loop {
        while first < list.len() && less(&list[first], &list[0]) {
            first += 1;
        }
        last -= 1;
        while last > 0 && less(&list[0], &list[last]) {
            last -= 1;
        }
        if first >= last {
            return first;
        }
        list.swap(first, last);
        first += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts() {
        for n in 0..200_u64 {
            let mut list: Vec<u64> = (0..n).map(|i| i * 7919 % 101).collect();
            let mut expected = list.clone();
            expected.sort_unstable();
            sort(&mut list, |a, b| a < b);
            assert_eq!(list, expected);
        }
    }

    #[test]
    fn equal_elements_change_places_as_observed() {
        let mut list: Vec<u32> = (0..17).collect();
        sort(&mut list, |_, _| false);
        sort(&mut list, |_, _| false);
        assert_eq!(list, [9, 1, 2, 3, 4, 5, 6, 7, 0, 8, 10, 11, 12, 13, 14, 15, 16]);
        let mut list: Vec<u32> = (0..16).collect();
        sort(&mut list, |_, _| false);
        assert!(list.is_sorted());
    }
}
