//! Plots a run's numbers as SVG.

use std::fmt::Write;

use super::order::ordered;
use super::words::words;
use crate::benchmarks::metric;
use crate::summary::RunSummary;

/// Colours that are distinguishable for colour-blind readers and in grey.
const SHADES: [&str; 3] = ["#9ecae1", "#4292c6", "#08306b"];

/// Returns the plots of a summary: file names and contents.
pub fn plots(summary: &RunSummary) -> Vec<(&'static str, String)> {
    let mut plots = vec![("scores.svg", scores(summary))];
    if !summary.difficulty.is_empty() {
        let by = [("oqs", "difficulty-oqs.svg"), ("ex", "difficulty-ex.svg")].into_iter();
        let scored = by.filter(|(name, _)| summary.scores.contains_key(name));
        plots.extend(scored.map(|(name, file)| (file, difficulty(summary, name))));
    }
    let errors = summary.errors();
    if !errors.is_empty() {
        plots.push(("errors.svg", errors_by_class(&errors)));
    }
    plots
}

/// A picture with its origin at the top left, in points.
pub(super) struct Picture {
    body: String,
    width: f64,
    height: f64,
}

impl Picture {
    pub(super) fn new(width: f64, height: f64, title: &str) -> Picture {
        let mut picture = Picture { body: String::new(), width, height };
        picture.text(width / 2.0, 18.0, "middle", title);
        picture
    }

    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, colour: &str) {
        let _ = write!(
            self.body,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="{colour}"/>"#
        );
    }

    pub(super) fn circle(&mut self, x: f64, y: f64, radius: f64, colour: &str) {
        let _ = write!(self.body, r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius:.1}" fill="{colour}"/>"#);
    }

    pub(super) fn line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, colour: &str) {
        let _ = write!(self.body, r#"<path d="M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}" stroke="{colour}"/>"#);
    }

    pub(super) fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let text = html_escape::encode_text(text);
        let _ = write!(self.body, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#);
    }

    pub(super) fn done(self) -> String {
        let Picture { body, width, height } = self;
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" font-family="Helvetica, Arial, sans-serif" font-size="11" fill="#222">{body}</svg>"##
        ) + "\n"
    }
}

/// Draws an axis of per cent from `bottom` up to `top`, with its lines.
pub(super) fn percent_axis(
    picture: &mut Picture,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
) -> impl Fn(f64) -> f64 + use<> {
    let at = move |percent: f64| bottom - (bottom - top) * percent.clamp(0.0, 100.0) / 100.0;
    for percent in [0.0, 20.0, 40.0, 60.0, 80.0, 100.0] {
        picture.line(left, at(percent), right, at(percent), "#ddd");
        picture.text(left - 6.0, at(percent) + 4.0, "end", &format!("{percent:.0}"));
    }
    at
}

/// Plots all means with their intervals.
fn scores(summary: &RunSummary) -> String {
    let shown: Vec<_> = ordered()
        .into_iter()
        .filter_map(|metric| {
            Some((metric.title, *summary.scores.get(metric.name)?, summary.intervals.get(metric.name)))
        })
        .collect();
    let width = 60.0 + 56.0 * shown.len() as f64;
    let mut picture = Picture::new(width, 250.0, "Scores, 95 % intervals");
    let at = percent_axis(&mut picture, 36.0, width - 8.0, 32.0, 205.0);
    for (i, (title, score, interval)) in shown.into_iter().enumerate() {
        let x = 64.0 + 56.0 * i as f64;
        picture.rect(x - 14.0, at(score), 28.0, at(0.0) - at(score), SHADES[1]);
        if let Some([low, high]) = interval {
            picture.line(x, at(*low), x, at(*high), "#222");
            for bound in [low, high] {
                picture.line(x - 4.0, at(*bound), x + 4.0, at(*bound), "#222");
            }
        }
        picture.text(x, 220.0, "middle", &format!("{score:.1}"));
        // A long name takes two lines.
        let (first, second) = title.split_once(' ').filter(|_| title.len() > 9).unwrap_or((title, ""));
        picture.text(x, 233.0, "middle", first);
        picture.text(x, 245.0, "middle", second);
    }
    picture.done()
}

/// Plots one metric by measure and tertile.
fn difficulty(summary: &RunSummary, by: &str) -> String {
    let title = metric(by).map_or(by, |metric| metric.title);
    let width = 60.0 + 112.0 * summary.difficulty.len() as f64;
    let mut picture = Picture::new(width.max(240.0), 240.0, &format!("{title} by difficulty"));
    let at = percent_axis(&mut picture, 36.0, width - 8.0, 32.0, 200.0);
    for (i, (measure, parts)) in summary.difficulty.iter().enumerate() {
        let left = 50.0 + 112.0 * i as f64;
        for (j, (tertile, colour)) in ["easy", "medium", "hard"].iter().zip(SHADES).enumerate() {
            let Some(score) = parts.get(tertile).and_then(|part| part.scores.get(by)) else { continue };
            let x = left + 30.0 * j as f64;
            picture.rect(x, at(*score), 26.0, at(0.0) - at(*score), colour);
            picture.text(x + 13.0, at(*score) - 3.0, "middle", &format!("{score:.1}"));
        }
        picture.text(left + 43.0, 215.0, "middle", measure);
    }
    for (j, (tertile, colour)) in ["easy", "medium", "hard"].iter().zip(SHADES).enumerate() {
        let x = 50.0 + 74.0 * j as f64;
        picture.rect(x, 223.0, 9.0, 9.0, colour);
        picture.text(x + 13.0, 232.0, "start", tertile);
    }
    picture.done()
}

fn errors_by_class(errors: &[(&str, usize)]) -> String {
    let most = errors.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1) as f64;
    let height = 40.0 + 20.0 * errors.len() as f64;
    let mut picture = Picture::new(420.0, height, "Errors by class");
    for (i, (class, count)) in errors.iter().enumerate() {
        let y = 32.0 + 20.0 * i as f64;
        let width = 190.0 * *count as f64 / most;
        picture.text(184.0, y + 11.0, "end", words(class));
        picture.rect(190.0, y, width, 14.0, SHADES[1]);
        picture.text(196.0 + width, y + 11.0, "start", &count.to_string());
    }
    picture.done()
}
