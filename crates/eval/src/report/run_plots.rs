//! Plots that compare systems: quality over size, over difficulty, and by class of complexity.

use std::collections::{BTreeMap, BTreeSet};

use super::plots::{Picture, percent_axis};
use crate::difficulty::Tertile;

/// Colours of systems, distinguishable for colour-blind readers (Okabe and Ito, 2008).
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933"];

/// A system in a plot, with its scores by one metric in per cent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlottedSystem {
    /// Its name.
    pub name: String,
    /// The number of its parameters, if known.
    pub parameters: Option<u64>,
    /// The mean.
    pub mean: f64,
    /// The standard deviation over its runs.
    pub deviation: Option<f64>,
    /// The means by measure of difficulty and tertile.
    pub difficulty: BTreeMap<String, BTreeMap<&'static str, f64>>,
    /// The means by class of complexity.
    pub complexity: BTreeMap<String, f64>,
}

/// Returns the plots that the systems have data for: file names and contents. `title` is that of the metric.
pub fn run_plots(systems: &[PlottedSystem], title: &str) -> Vec<(String, String)> {
    let mut plots = Vec::new();
    plots.extend(over_size(systems, title).map(|plot| ("size.svg".to_owned(), plot)));
    let measures: BTreeSet<&String> = systems.iter().flat_map(|system| system.difficulty.keys()).collect();
    for measure in measures {
        let safe = measure.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        plots.push((format!("difficulty-{safe}.svg"), over_difficulty(systems, measure, title)));
    }
    if systems.iter().any(|system| !system.complexity.is_empty()) {
        plots.push(("complexity.svg".to_owned(), by_class(systems, title)));
    }
    plots
}

fn colour(at: usize) -> &'static str {
    COLOURS.get(at % COLOURS.len()).copied().unwrap_or("#000000")
}

/// Writes the names of the systems below a plot, one per line.
fn legend(picture: &mut Picture, systems: &[PlottedSystem], top: f64) {
    for (at, system) in systems.iter().enumerate() {
        let y = top + 15.0 * at as f64;
        picture.rect(44.0, y, 9.0, 9.0, colour(at));
        picture.text(57.0, y + 9.0, "start", &system.name);
    }
}

/// Plots the mean over the number of parameters, which has a logarithmic axis. `None` if no system has one.
fn over_size(systems: &[PlottedSystem], title: &str) -> Option<String> {
    let log = |parameters: u64| libm::log10(parameters.max(1) as f64);
    let sizes: Vec<f64> = systems.iter().filter_map(|system| system.parameters).map(log).collect();
    let low = sizes.iter().copied().reduce(f64::min)?.floor();
    let high = sizes.iter().copied().reduce(f64::max)?.ceil().max(low + 1.0);
    let mut picture = Picture::new(420.0, 250.0 + 15.0 * systems.len() as f64, &format!("{title} over parameters"));
    let at = percent_axis(&mut picture, 36.0, 412.0, 32.0, 205.0);
    let x_of = |size: f64| 50.0 + 340.0 * (size - low) / (high - low);
    let mut power = low;
    while power <= high {
        picture.line(x_of(power), 205.0, x_of(power), 209.0, "#222");
        picture.text(x_of(power), 221.0, "middle", &power_of_ten(power));
        power += 1.0;
    }
    for (number, system) in systems.iter().enumerate() {
        let Some(x) = system.parameters.map(|parameters| x_of(log(parameters))) else { continue };
        picture.circle(x, at(system.mean), 4.0, colour(number));
        let spread = system.deviation.unwrap_or_default();
        picture.line(x, at(system.mean - spread), x, at(system.mean + spread), colour(number));
    }
    legend(&mut picture, systems, 232.0);
    Some(picture.done())
}

/// Formats a power of ten of parameters: 1M, 10B.
fn power_of_ten(power: f64) -> String {
    let (unit, name) = match power {
        power if power >= 12.0 => (12.0, "T"),
        power if power >= 9.0 => (9.0, "B"),
        power if power >= 6.0 => (6.0, "M"),
        power if power >= 3.0 => (3.0, "k"),
        _ => (0.0, ""),
    };
    format!("{:.0}{name}", libm::exp10(power - unit))
}

/// Plots the mean of each tertile as a line per system.
fn over_difficulty(systems: &[PlottedSystem], measure: &str, title: &str) -> String {
    let height = 235.0 + 15.0 * systems.len() as f64;
    let mut picture = Picture::new(420.0, height, &format!("{title} over difficulty by {measure}"));
    let at = percent_axis(&mut picture, 36.0, 412.0, 32.0, 195.0);
    let x_of = |place: usize| 90.0 + 130.0 * place as f64;
    for (place, tertile) in Tertile::ALL.into_iter().enumerate() {
        picture.text(x_of(place), 211.0, "middle", tertile.name());
    }
    for (number, system) in systems.iter().enumerate() {
        let Some(parts) = system.difficulty.get(measure) else { continue };
        let points = Tertile::ALL.into_iter().enumerate();
        let points: Vec<(f64, f64)> =
            points.filter_map(|(place, tertile)| Some((x_of(place), at(*parts.get(tertile.name())?)))).collect();
        for pair in points.windows(2) {
            if let [(x1, y1), (x2, y2)] = *pair {
                picture.line(x1, y1, x2, y2, colour(number));
            }
        }
        points.iter().for_each(|(x, y)| picture.circle(*x, *y, 3.5, colour(number)));
    }
    legend(&mut picture, systems, 220.0);
    picture.done()
}

/// Plots the mean of each class as a bar per system.
fn by_class(systems: &[PlottedSystem], title: &str) -> String {
    let classes: BTreeSet<&String> = systems.iter().flat_map(|system| system.complexity.keys()).collect();
    let group = 16.0 * systems.len() as f64 + 24.0;
    let width = (60.0 + group * classes.len() as f64).max(240.0);
    let height = 235.0 + 15.0 * systems.len() as f64;
    let mut picture = Picture::new(width, height, &format!("{title} by complexity"));
    let at = percent_axis(&mut picture, 36.0, width - 8.0, 32.0, 195.0);
    for (place, class) in classes.into_iter().enumerate() {
        let left = 50.0 + group * place as f64;
        for (number, system) in systems.iter().enumerate() {
            let Some(score) = system.complexity.get(class) else { continue };
            picture.rect(left + 16.0 * number as f64, at(*score), 14.0, at(0.0) - at(*score), colour(number));
        }
        picture.text(left + 8.0 * systems.len() as f64, 211.0, "middle", class);
    }
    legend(&mut picture, systems, 220.0);
    picture.done()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(name: &str, parameters: Option<u64>) -> PlottedSystem {
        let tertiles = [("easy", 60.0), ("medium", 50.0), ("hard", 20.0)].into();
        PlottedSystem {
            name: name.to_owned(),
            parameters,
            mean: 50.0,
            deviation: Some(1.0),
            difficulty: [("len/nl".to_owned(), tertiles)].into(),
            complexity: [("simple".to_owned(), 70.0)].into(),
        }
    }

    #[test]
    fn systems_are_plotted_where_they_have_data() {
        let plots = run_plots(&[system("<a>", Some(135_000_000)), system("b", None)], "EX");
        let names: Vec<&str> = plots.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["size.svg", "difficulty-len_nl.svg", "complexity.svg"]);
        assert!(plots.iter().all(|(_, plot)| plot.contains("&lt;a&gt;") && !plot.contains("NaN")));
        let size = &plots[0].1;
        assert_eq!(size.matches("<circle").count(), 1, "a system without a size has no point");
        assert!(size.contains(">100M<") && size.contains(">1B<"), "{size}");
        let bare = PlottedSystem { name: "c".to_owned(), ..PlottedSystem::default() };
        assert!(run_plots(&[bare], "EX").is_empty());
    }
}
