//! Tests the output of a load on a terminal, interpreted in the way of a terminal.

use std::fmt::Write;
use std::process::{Command, Stdio};

use crate::common::skip;

/// Returns the lines on a terminal of 100 columns after this output.
fn screen(written: &str) -> Vec<String> {
    let mut lines: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0_usize, 0_usize);
    let mut rest = written.chars().peekable();
    while let Some(sign) = rest.next() {
        match sign {
            '\r' => column = 0,
            '\n' => row += 1,
            '\u{1b}' if rest.peek() == Some(&'[') => {
                rest.next();
                let mut number = String::new();
                let end = loop {
                    match rest.next() {
                        Some(digit) if digit.is_ascii_digit() || digit == ';' || digit == '?' => number.push(digit),
                        end => break end,
                    }
                };
                let count: usize = number.parse().unwrap_or(1);
                match end {
                    Some('A') => row = row.saturating_sub(count),
                    Some('B') => row += count,
                    Some('K') if number == "2" => lines[row].clear(),
                    Some('K') => lines[row].truncate(column),
                    _ => {}
                }
            }
            sign => {
                if column == 100 {
                    (row, column) = (row + 1, 0);
                }
                lines.resize_with(lines.len().max(row + 1), Vec::new);
                let line = &mut lines[row];
                if line.len() <= column {
                    line.resize(column + 1, ' ');
                }
                line[column] = sign;
                column += 1;
            }
        }
        lines.resize_with(lines.len().max(row + 1), Vec::new);
    }
    let text = |line: Vec<char>| line.into_iter().collect::<String>().trim_end().to_owned();
    lines.into_iter().map(text).filter(|line| !line.is_empty()).collect()
}

#[test]
fn a_load_leaves_no_bars_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut osm = String::from("<osm version=\"0.6\">\n");
    for id in 1..=60_000 {
        let (lat, lon) = (10.0 + f64::from(id % 300) / 1e3, 20.0 + f64::from(id / 300) / 1e3);
        let _ = writeln!(osm, "<node id=\"{id}\" lat=\"{lat}\" lon=\"{lon}\"><tag k=\"name\" v=\"{id}\"/></node>");
    }
    std::fs::write(folder.path().join("many.osm"), osm + "</osm>\n").unwrap();
    // util-linux's `script` provides a terminal, here of 100 columns.
    let program = assert_cmd::cargo::cargo_bin("terrapin");
    let load = format!("stty cols 100; {} load --osm many.osm --out many.terrapin", program.display());
    let mut command = Command::new("script");
    command.args(["-qec", &load, "/dev/null"]).current_dir(folder.path()).env("TERM", "xterm").stdin(Stdio::null());
    let Ok(done) = command.output() else {
        skip::skipped(skip::Need::System, "there is no terminal (install util-linux's script)");
        return;
    };
    let written = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{written}");
    assert!(written.contains("reading"), "{written}");
    for part in written.split(['\r', '\n', '\u{1b}']) {
        let Some((number, _)) = part.split_once("/s") else { continue };
        let number = number.rsplit(' ').next().unwrap_or_default();
        let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        assert!(decimals <= 2, "a rate of {decimals} decimals: {part}");
    }
    let shown = screen(&written);
    let last = shown.last().map(String::as_str).unwrap_or_default();
    assert!(last.starts_with("many.terrapin: ") && last.contains("60,000 nodes"), "{shown:#?}");
    let is_phase = |line: &String| line.ends_with(" s") && !line.contains('░') && !line.contains('█');
    for line in &shown[..shown.len() - 2] {
        assert!(is_phase(line), "{line:?} in {shown:#?}");
    }
}
