//! A relation between nearby points. With it, a query looks up points in a spatial index instead of scanning them all.

use super::build::TripleBuildError;
use super::globes::{EARTH, radius};
use super::layout;
use super::points::{Placed, Points, placed};
use super::{End, GlobePoint, Pairs, ReadError, Store, TermId, TermRelation, TripleView, Zone};

use terrapin_base::external_sort::{SpillBuffer, SpillScratch};
use terrapin_budget as budget;
use terrapin_snapshot::SnapshotWriter;

/// Factor that shortens a degree of a great circle, so that rounding excludes no point at the edge.
const SHORTER: f64 = 0.998;

/// Number of literals between two checks of a query's limits.
const LOOK: u64 = 4096;

/// The search area of the relation.
#[derive(Debug, Clone, Copy)]
pub enum PointSearchArea {
    /// Near the object, which is a point.
    Around {
        /// Radius in kilometres.
        kilometres: f64,
        /// Radius of the globe in kilometres; `None` for the globe of the object.
        radius: Option<f64>,
    },
    /// Within a zone, independent of the object.
    Within(Zone),
}

impl PointSearchArea {
    /// Returns the zone that contains the search area around `centre`.
    fn zone(self, centre: Option<GlobePoint<'_>>) -> Option<Zone> {
        match self {
            PointSearchArea::Within(zone) => Some(zone),
            PointSearchArea::Around { kilometres, radius: given } => {
                let GlobePoint { longitude, latitude, globe } = centre?;
                let degree = given.or_else(|| radius(globe))?.to_radians() * SHORTER;
                let reach = kilometres.max(0.0) / degree;
                let (south, north) = (latitude - reach, latitude + reach);
                // The meridians that touch the circle, unless it contains a pole.
                let half = match south > -90.0 && north < 90.0 {
                    true => libm::asin(libm::sin(reach.to_radians()) / libm::cos(latitude.to_radians())).to_degrees(),
                    false => f64::NAN,
                };
                let half = if half.is_finite() && reach < 90.0 { half.abs() } else { 180.0 };
                Some(Zone { south, north, west: longitude - half, width: 2.0 * half })
            }
        }
    }
}

/// Yields a superset of the points near the object; the query's own condition decides. A given subject is always
/// included.
impl TermRelation for PointSearchArea {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        let found = || -> Result<Vec<(TermId, TermId)>, ReadError> {
            let Some(object) = object else {
                return Err(ReadError::Relation("what is near is asked for without a centre".to_owned()));
            };
            if let Some(subject) = subject {
                return Ok(vec![(subject, object)]);
            }
            let centre = view.term(object)?;
            let Some(zone) = self.zone(GlobePoint::of(&centre)) else { return Ok(Vec::new()) };
            let points = view.store().points_within(view, &zone)?;
            Ok(points.into_iter().map(|point| (point, object)).collect())
        };
        match found() {
            Ok(pairs) => Box::new(pairs.into_iter().map(Ok)),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }

    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64 {
        if subject != End::Free {
            return 1.0;
        }
        let centre = match object {
            End::Term(id) => view.term(id).ok(),
            _ => None,
        };
        // If the centre is unknown, estimate with one at a middle latitude.
        let middle = GlobePoint { longitude: 0.0, latitude: 45.0, globe: EARTH };
        let zone = self.zone(centre.as_ref().and_then(GlobePoint::of).or(Some(middle)));
        zone.map_or(1.0, |zone| view.store().points_expected(&zone))
    }

    fn answers(&self, _: bool, object_given: bool) -> bool {
        object_given
    }
}

/// Writes the positions of the points of a new snapshot.
///
/// # Errors
/// Returns an error if the disk is full, or the snapshot is damaged.
pub fn write_points(
    store: &Store,
    scratch: &SpillScratch,
    writer: &mut SnapshotWriter,
) -> Result<(), TripleBuildError> {
    let mut points = SpillBuffer::<Placed>::new(scratch);
    for range in store.point_literals() {
        for first in range.clone().step_by(LOOK as usize) {
            let some = first..range.end.min(first + LOOK);
            points.extend(&some.filter_map(|number| store.placed(number)).collect::<Vec<_>>())?;
        }
    }
    store.check()?;
    let points = points.sort(|point| *point)?;
    Ok(Points::write(writer, points.as_slice())?)
}

impl Store {
    /// Returns the position of a literal that is a point.
    fn placed(&self, number: u64) -> Option<Placed> {
        Some(placed(&GlobePoint::of(&self.term(TermId::of_snapshot(number))?)?, number))
    }

    /// Returns the snapshot's points in a zone, ascending; some points just outside may be included.
    ///
    /// # Errors
    /// Returns an error if a limit of the query is reached, or the snapshot is damaged.
    fn points_within(&self, view: &TripleView, zone: &Zone) -> Result<Vec<TermId>, ReadError> {
        let Some(points) = &self.points else {
            self.fault().report(layout::POINTS, "the snapshot does not have it");
            return Ok(Vec::new());
        };
        budget::unwatched(|| points.prepare());
        let mut within: Vec<TermId> = points.within(zone).collect();
        view.work(within.len() as u64)?;
        within.sort_unstable();
        Ok(within)
    }

    /// Estimates how many of the snapshot's points a zone contains.
    fn points_expected(&self, zone: &Zone) -> f64 {
        // Use an upper bound, not the exact count. The latter is known only after the first scan, and plans must not
        // depend on that.
        let points = *self
            .most_points
            .get_or_init(|| self.point_literals().into_iter().map(|range| range.end.saturating_sub(range.start)).sum());
        let share = (zone.north - zone.south) / 180.0 * zone.width / 360.0;
        // Points cluster, so a zone contains more than its share.
        (points as f64 * share.clamp(0.0, 1.0) * 10.0).max(1.0)
    }
}
