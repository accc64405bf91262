//! Cuts lines that cross 180 degrees.

use super::Line;
use crate::Coord;
use crate::geometry::crossing_of_180;

/// Splits a line into pieces that do not cross 180 degrees, so that it can be drawn on the plane (RFC 7946, 3.1.9). A
/// segment that spans more than half of the globe goes the other way.
pub fn cut_at_180(line: &[Coord]) -> Vec<Line> {
    let mut pieces = Vec::new();
    let mut piece = Line::new();
    for &c in line {
        if let Some(&before) = piece.last()
            && let Some((end, begin)) = crossing_of_180(before, c)
        {
            if before != end || piece.len() == 1 {
                piece.push(end);
            }
            pieces.push(std::mem::take(&mut piece));
            if begin != c {
                piece.push(begin);
            }
        }
        piece.push(c);
    }
    pieces.push(piece);
    // Pieces without length are removed, so that a line along the meridian is drawn once.
    if pieces.len() > 1 {
        pieces.retain(|piece| piece.len() > 1 && piece.iter().any(|c| *c != piece[0]));
    }
    pieces
}
