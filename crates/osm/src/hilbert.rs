//! The spatial order of elements: the Hilbert curve over the full range of 32-bit coordinates. A place on the curve and
//! a position convert into each other without loss.

use super::Coord;

const ORDER: u8 = 32;
const OFFSET: u32 = 1 << 31;

/// Returns the place of a position along the curve.
pub fn key(c: Coord) -> u64 {
    fast_hilbert::xy2h((c.lon as u32).wrapping_add(OFFSET), (c.lat as u32).wrapping_add(OFFSET), ORDER)
}

/// Returns the position of a place along the curve.
pub fn position(key: u64) -> Coord {
    let (x, y) = fast_hilbert::h2xy::<u32>(key, ORDER);
    Coord { lat: y.wrapping_sub(OFFSET) as i32, lon: x.wrapping_sub(OFFSET) as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_positions() {
        for lat in [-900_000_000, -1, 0, 1, 359_381_720, 900_000_000] {
            for lon in [-1_800_000_000, -1_699_214_109, -1, 0, 7, 1_800_000_000] {
                let c = Coord { lat, lon };
                assert_eq!(position(key(c)), c);
            }
        }
    }
}
