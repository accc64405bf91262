//! Scoring: metrics, runs and reports.

mod cluster;
mod codebleu;
mod compat;
mod input;
mod keeps;
mod overpassnl;
mod published;
mod report_page;
mod runs;
mod same;
mod score;
mod similarity;
mod suite;
