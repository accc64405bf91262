//! Set operations on ascending vectors of ordinals without duplicates.

use terrapin_osm::Ordinal;
pub use terrapin_osm::radix::set as from_unsorted;

/// Returns the index of the first element of `list`, from `from` on, that is not below `value`. Doubles the step, then
/// bisects.
fn gallop(list: &[Ordinal], from: usize, value: Ordinal) -> usize {
    let (mut low, mut step) = (from, 1);
    while low + step < list.len() && list[low + step] < value {
        low += step;
        step *= 2;
    }
    let high = (low + step).min(list.len());
    low + list[low..high].partition_point(|&x| x < value)
}

/// Returns the intersection.
pub fn intersect(a: &[Ordinal], b: &[Ordinal]) -> Vec<Ordinal> {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut out = Vec::new();
    let mut at = 0;
    for &value in small {
        at = gallop(large, at, value);
        match large.get(at) {
            Some(&found) if found == value => {
                out.push(value);
                at += 1;
            }
            Some(_) => {}
            None => break,
        }
    }
    out
}

/// Returns the union.
pub fn union(a: &[Ordinal], b: &[Ordinal]) -> Vec<Ordinal> {
    if a.is_empty() {
        return b.to_vec();
    }
    if b.is_empty() {
        return a.to_vec();
    }
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        out.push(x.min(y));
        i += (x <= y) as usize;
        j += (y <= x) as usize;
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
    out
}

/// Returns the elements of `a` that are not in `b`.
pub fn difference(a: &[Ordinal], b: &[Ordinal]) -> Vec<Ordinal> {
    let mut out = Vec::new();
    let mut at = 0;
    for &value in a {
        at = gallop(b, at, value);
        if b.get(at) != Some(&value) {
            out.push(value);
        }
    }
    out
}

/// Returns whether `list` contains `value`.
pub fn contains(list: &[Ordinal], value: Ordinal) -> bool {
    list.binary_search(&value).is_ok()
}

/// Returns the runs of `list` that share a page: page and index range into `list`, ascending.
pub fn pages(list: &[Ordinal], page_size: u64) -> Vec<(u32, std::ops::Range<usize>)> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&first) = list.get(at) {
        let page = first / page_size;
        let end = gallop(list, at, (page + 1) * page_size);
        out.push((page as u32, at..end));
        at = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets() {
        let (a, b) = ([1, 3, 5, 7, 9, 200], [3, 4, 9, 10, 11, 12, 13, 14, 200, 300]);
        assert_eq!(intersect(&a, &b), [3, 9, 200]);
        assert_eq!(intersect(&b, &a), [3, 9, 200]);
        assert_eq!(union(&a, &b), [1, 3, 4, 5, 7, 9, 10, 11, 12, 13, 14, 200, 300]);
        assert_eq!(difference(&a, &b), [1, 5, 7]);
        assert_eq!(difference(&a, &[]), a);
        assert!(intersect(&a, &[]).is_empty());
    }

    #[test]
    fn page_runs() {
        assert_eq!(pages(&[0, 3, 4, 9, 10, 39], 4), [(0, 0..2), (1, 2..3), (2, 3..5), (9, 5..6)]);
        assert!(pages(&[], 4).is_empty());
    }
}
