//! Counts where the results of queries lie, in cells of a grid: figure 3 of OverpassNL's paper. Writes GeoJSON and SVG.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::{Value, json};
use terrapin_osm::{ElementType, Osm};
use terrapin_overpass::reader::StoreReader;

use super::super::answer::GoldElement;

/// The side of the cells in which results are collected, in 1e-7 degrees: 0.01 degrees.
const FINE: i32 = 100_000;
/// The most cells along a side of the map if no size is given.
const CELLS: i32 = 100;
/// The width of the SVG in pixels.
const WIDTH: f64 = 960.0;

/// A cell: its row from the equator to the north, its column from Greenwich to the east.
type Cell = (i32, i32);

/// The results in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CellCount {
    /// The number of results.
    pub results: u64,
    /// The number of queries with a result in it.
    pub queries: u64,
}

/// Where results lie.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultLocations {
    cells: BTreeMap<Cell, CellCount>,
    /// The number of results without a position, such as counts and rows.
    pub unplaced: u64,
}

impl ResultLocations {
    /// Counts the results of one query.
    pub fn of(osm: &Osm, elements: &[GoldElement]) -> ResultLocations {
        let mut reader = StoreReader::new(osm);
        let mut found = ResultLocations::default();
        for element in elements {
            let kind = ElementType::ALL.into_iter().find(|kind| kind.name() == element.kind);
            let ordinal = kind.and_then(|kind| Some((kind, osm.find(kind, element.id)?)));
            let bounds = ordinal.and_then(|(kind, ordinal)| reader.extent(kind, ordinal).plain());
            let Some(bounds) = bounds else {
                found.unplaced += 1;
                continue;
            };
            let row = i32::midpoint(bounds.south, bounds.north).div_euclid(FINE);
            let column = i32::midpoint(bounds.west, bounds.east).div_euclid(FINE);
            found.cells.entry((row, column)).or_default().results += 1;
        }
        found.cells.values_mut().for_each(|count| count.queries = 1);
        found
    }

    /// Returns the locations of rows, which have none.
    pub fn of_rows(rows: u64) -> ResultLocations {
        ResultLocations { unplaced: rows, ..ResultLocations::default() }
    }

    /// Adds the results of other queries.
    pub fn add(&mut self, other: ResultLocations) {
        self.unplaced += other.unplaced;
        for (cell, count) in other.cells {
            let own = self.cells.entry(cell).or_default();
            own.results += count.results;
            own.queries += count.queries;
        }
    }

    /// Returns the number of results with a position.
    pub fn placed(&self) -> u64 {
        self.cells.values().map(|count| count.results).sum()
    }

    /// Returns a side of cells in hundredths of a degree: 1, 2 or 5 times a power of ten, so that there are at most
    /// 100 along each side.
    pub fn default_side(&self) -> i32 {
        let range = |of: fn(&Cell) -> i32| {
            let values: BTreeSet<i32> = self.cells.keys().map(of).collect();
            values.last().zip(values.first()).map_or(1, |(high, low)| high - low + 1)
        };
        let longest = range(|cell| cell.0).max(range(|cell| cell.1));
        let sides = [1, 2, 5, 10, 20, 50, 100, 200, 500];
        sides.into_iter().find(|side| longest / side < CELLS).unwrap_or(1_000)
    }

    /// Returns the counts in cells of a side in hundredths of a degree. `queries` is the largest number in
    /// one fine cell.
    fn coarse(&self, side: i32) -> BTreeMap<Cell, CellCount> {
        let mut cells: BTreeMap<Cell, CellCount> = BTreeMap::new();
        for ((row, column), count) in &self.cells {
            let cell = cells.entry((row.div_euclid(side), column.div_euclid(side))).or_default();
            cell.results += count.results;
            cell.queries = cell.queries.max(count.queries);
        }
        cells
    }

    /// Returns the cells as GeoJSON: polygons with `results` and `queries`, the largest number of queries with results in
    /// one place of the cell. `side` is in hundredths of a degree.
    pub fn geojson(&self, side: i32) -> Value {
        let degrees = |cells: i32| f64::from(cells) * f64::from(side) / 100.0;
        let feature = |((row, column), count): (Cell, CellCount)| {
            let [south, north, west, east] = [degrees(row), degrees(row + 1), degrees(column), degrees(column + 1)];
            json!({
                "type": "Feature",
                "properties": {"results": count.results, "queries": count.queries},
                "geometry": {
                    "type": "Polygon",
                    "coordinates": [[[west, south], [east, south], [east, north], [west, north], [west, south]]],
                },
            })
        };
        let features: Vec<Value> = self.coarse(side).into_iter().map(feature).collect();
        json!({"type": "FeatureCollection", "features": features})
    }

    /// Returns the cells as an SVG in the plate carrée projection: the darker, the more results, on a logarithmic scale.
    /// `side` is in hundredths of a degree.
    pub fn svg(&self, side: i32) -> String {
        let cells = self.coarse(side);
        let rows = || cells.keys().map(|cell| cell.0);
        let columns = || cells.keys().map(|cell| cell.1);
        let (south, north) = (rows().min().unwrap_or(0), rows().max().unwrap_or(0));
        let (west, east) = (columns().min().unwrap_or(0), columns().max().unwrap_or(0));
        let pixels = WIDTH / f64::from(east - west + 1);
        let height = pixels * f64::from(north - south + 1);
        let most = cells.values().map(|count| count.results).max().unwrap_or(1).max(1);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" width=\"{WIDTH:.0}\" \
             height=\"{height:.0}\">\n<title>Locations of {} results, at most {most} in a cell of {} degrees</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#f4f4f0\"/>\n",
            self.placed(),
            f64::from(side) / 100.0
        );
        for ((row, column), count) in &cells {
            let digits = |number: u64| libm::log10(number as f64 + 1.0);
            let opacity = 0.15 + 0.85 * digits(count.results) / digits(most);
            let (x, y) = (pixels * f64::from(column - west), pixels * f64::from(north - row));
            // Writing to a text cannot fail.
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{pixels:.2}\" height=\"{pixels:.2}\" fill=\"#0b4f8a\" \
                 fill-opacity=\"{opacity:.3}\"><title>{} results</title></rect>",
                count.results
            );
        }
        svg.push_str("</svg>\n");
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locations(cells: &[(Cell, u64)]) -> ResultLocations {
        let count = |results| CellCount { results, queries: 1 };
        ResultLocations { cells: cells.iter().map(|(cell, results)| (*cell, count(*results))).collect(), unplaced: 0 }
    }

    #[test]
    fn cells_are_counted_and_drawn() {
        let mut all = locations(&[((0, 0), 3), ((-1, -1), 1)]);
        all.add(locations(&[((0, 0), 2), ((0, 1), 4)]));
        assert_eq!((all.placed(), all.default_side()), (10, 1));
        let features = all.geojson(2)["features"].as_array().unwrap().clone();
        assert_eq!(features.len(), 2);
        // The cell south-west of the origin comes first.
        assert_eq!(features[0]["geometry"]["coordinates"][0][0], json!([-0.02, -0.02]));
        assert_eq!(features[1]["properties"], json!({"results": 9, "queries": 2}));
        let svg = all.svg(1);
        assert!(svg.starts_with("<svg") && svg.matches("<rect x=").count() == 3 && svg.contains("<title>5 results"));
    }

    #[test]
    fn sides_fit_the_extent() {
        assert_eq!(locations(&[((0, 0), 1), ((5, 250), 1)]).default_side(), 5);
        assert_eq!(locations(&[((-9_000, -18_000), 1), ((8_999, 17_999), 1)]).default_side(), 500);
        assert_eq!(ResultLocations::default().default_side(), 1);
    }
}
