//! Runs `is_in`: finds the areas and closed ways around nodes or a point.

use super::RunContext;
use super::filters::to_coord;
use crate::plan::{BoxTree, point_box};
use crate::quadtile::has_place;
use crate::set::ElementSet;
use crate::syntax::{IsIn, IsInPlace};
use terrapin_budget as budget;
use terrapin_osm::ElementType::Way;
use terrapin_osm::areas::{is_closed, shape_of_way};
use terrapin_osm::{BoundingBox, Coord, Ordinal};

/// Half the circumference of the globe, in 1e-7 degrees.
const HALF: i32 = 1_800_000_000;
/// A quarter of the circumference: closed ways that cross the antimeridian do not extend further from it.
const QUARTER: u32 = HALF as u32 / 2;

/// Runs the statement.
pub fn run(ctx: &mut RunContext, IsIn { place, into }: &IsIn) {
    let points = match place {
        IsInPlace::Point(point) => vec![to_coord(point)],
        IsInPlace::Set(name) => ctx.osm.coords(&ctx.set(name).nodes),
    };
    let mut areas: Vec<_> = points.iter().flat_map(|&at| ctx.current.areas().at(ctx.current, at)).collect();
    areas.sort_unstable();
    areas.dedup();
    let ways = closed_ways_around(ctx, &points);
    ctx.assign(into, ElementSet { areas, ways, ..ElementSet::default() });
}

/// Returns the closed ways that contain one of the points, inside or on their border.
fn closed_ways_around(ctx: &RunContext, points: &[Coord]) -> Vec<Ordinal> {
    let mut pages: Vec<u32> = points.iter().flat_map(|&at| ctx.osm.pages_in(Way, &point_box(at))).collect();
    // The box of a way across the antimeridian goes round the other side of the globe, over longitude 0. Therefore it
    // does not contain the points inside the way.
    for at in points.iter().filter(|at| at.lon.unsigned_abs() > QUARTER) {
        let others = ctx.osm.pages_in(Way, &point_box(Coord { lon: 0, ..*at }));
        pages.extend(others.into_iter().filter(|&page| is_around(&ctx.osm.page_box(Way, page))));
    }
    pages.sort_unstable();
    pages.dedup();
    let tree = BoxTree::new(points.iter().map(|&at| point_box(at)).collect());
    let mut found = Vec::new();
    for number in pages {
        let page = ctx.osm.way_page(number);
        budget::work(page.ids.len());
        for slot in 0..page.ids.len() {
            if !is_closed(page.nodes(slot)) {
                continue;
            }
            let coords = page.coords(slot);
            let mut bounds = BoundingBox::EMPTY;
            coords.iter().for_each(|&c| bounds.extend(c));
            if is_around(&bounds) {
                (bounds.west, bounds.east) = (-HALF, HALF);
            }
            let mut shape = None;
            let holds = |i: usize| {
                let shape = shape.get_or_insert_with(|| shape_of_way(coords));
                points.get(i).is_some_and(|&at| shape.covers(at))
            };
            if !bounds.is_empty() && tree.any(&bounds, holds) && has_place(coords) {
                found.push(u64::from(number) * ctx.osm.page_size(Way) + slot as u64);
            }
        }
    }
    found
}

/// Returns whether a box spans more than half of the globe, like that of a way across the antimeridian.
fn is_around(bounds: &BoundingBox) -> bool {
    i64::from(bounds.east) - i64::from(bounds.west) > i64::from(HALF)
}
