//! Joins lines at their ends in the same order as osmtogeojson. The result is also the same if lines are missing.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use terrapin_budget as budget;
use terrapin_osm::Coord;

/// The identity of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum NodeKey {
    Id(i64),
    /// The coordinates of a node without an id in the answer.
    At(Coord),
}

/// A node of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineVertex {
    pub(super) key: NodeKey,
    pub(super) at: Coord,
}

/// Joins lines at their ends until each is closed or no line continues it. Starts with the last line. If several lines
/// continue it, takes the first.
pub(super) fn join(mut lines: Vec<Vec<LineVertex>>) -> Vec<Vec<LineVertex>> {
    let mut ends = LineEndIndex::of(&lines);
    let mut joined = Vec::new();
    for start in (0..lines.len()).rev() {
        if std::mem::replace(&mut ends.used[start], true) {
            continue;
        }
        let mut current = VecDeque::from(std::mem::take(&mut lines[start]));
        while let (Some(first), Some(last)) = (current.front().map(|v| v.key), current.back().map(|v| v.key)) {
            let next = [ends.next(first), ends.next(last)].into_iter().flatten().min();
            let Some(next) = next.filter(|_| first != last) else { break };
            ends.used[next] = true;
            let mut line = std::mem::take(&mut lines[next]);
            budget::checkpoints(line.len());
            let (begins, stops) = (line.first().map(|v| v.key), line.last().map(|v| v.key));
            if begins == Some(last) {
                current.extend(line.into_iter().skip(1));
            } else if stops == Some(last) {
                line.pop();
                current.extend(line.into_iter().rev());
            } else if stops == Some(first) {
                line.pop();
                line.into_iter().rev().for_each(|vertex| current.push_front(vertex));
            } else {
                line.into_iter().skip(1).for_each(|vertex| current.push_front(vertex));
            }
        }
        joined.push(current.into());
    }
    joined
}

/// An index of lines by their end nodes.
struct LineEndIndex {
    used: Vec<bool>,
    /// Lines in ascending order, so that used ones are removed from the front.
    at: FxHashMap<NodeKey, VecDeque<usize>>,
}

impl LineEndIndex {
    fn of(lines: &[Vec<LineVertex>]) -> LineEndIndex {
        let mut at: FxHashMap<NodeKey, VecDeque<usize>> = FxHashMap::default();
        for (place, line) in lines.iter().enumerate() {
            budget::checkpoint();
            for end in [line.first(), line.last()].into_iter().flatten() {
                at.entry(end.key).or_default().push_back(place);
            }
        }
        LineEndIndex { used: vec![false; lines.len()], at }
    }

    /// Returns the first unused line that ends at a node.
    fn next(&mut self, node: NodeKey) -> Option<usize> {
        let lines = self.at.get_mut(&node)?;
        while lines.front().is_some_and(|&line| self.used[line]) {
            lines.pop_front();
        }
        lines.front().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ids: &[i64]) -> Vec<LineVertex> {
        let at = |id: i64| Coord { lat: id as i32, lon: 0 };
        ids.iter().map(|&id| LineVertex { key: NodeKey::Id(id), at: at(id) }).collect()
    }

    fn joined(lines: &[&[i64]]) -> Vec<Vec<i32>> {
        let lines = lines.iter().map(|ids| line(ids)).collect();
        join(lines).into_iter().map(|line| line.into_iter().map(|vertex| vertex.at.lat).collect()).collect()
    }

    #[test]
    fn lines_are_joined_as_osmtogeojson_joins_them() {
        // The expected values are the output of osmtogeojson.
        assert_eq!(joined(&[&[1, 2, 3], &[5, 4, 3], &[5, 6, 1]]), [vec![5, 6, 1, 2, 3, 4, 5]]);
        assert_eq!(joined(&[&[1, 2], &[7, 8, 9, 7], &[3, 2]]), [vec![3, 2, 1], vec![7, 8, 9, 7]]);
        assert_eq!(joined(&[&[], &[1]]), [vec![1], vec![]]);
    }
}
