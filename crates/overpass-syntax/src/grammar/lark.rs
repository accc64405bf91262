//! Writes Lark's format, as llguidance and Lark take it.

use std::fmt::Write;

use super::expression::{GrammarExpression, OverpassGrammar};
use super::gbnf::literal;

impl OverpassGrammar {
    /// Writes the grammar in Lark's format. Names have `_` for `-`, and the first rule is `start`.
    pub fn lark(&self) -> String {
        let mut out = String::from("%llguidance {}\n\n");
        for (name, expression) in &self.rules {
            let _ = write!(out, "{}: ", rule_name(name));
            write_expression(expression, false, &mut out);
            out.push('\n');
        }
        out
    }
}

fn rule_name(name: &str) -> String {
    if name == "root" { "start".to_owned() } else { name.replace('-', "_") }
}

fn write_expression(expression: &GrammarExpression, is_inner: bool, out: &mut String) {
    match expression {
        GrammarExpression::Literal(text) => literal(text, out),
        GrammarExpression::Class(class) => {
            let _ = write!(out, "/{}/", class_pattern(class));
        }
        GrammarExpression::Rule(name) => out.push_str(&rule_name(name)),
        GrammarExpression::Sequence(all) | GrammarExpression::Choice(all) => {
            let sign = if matches!(expression, GrammarExpression::Choice(_)) { " | " } else { " " };
            if is_inner {
                out.push('(');
            }
            for (at, inner) in all.iter().enumerate() {
                if at > 0 {
                    out.push_str(sign);
                }
                write_expression(inner, true, out);
            }
            if is_inner {
                out.push(')');
            }
        }
        GrammarExpression::Repeat(inner, least, most) => repeat(inner, *least, *most, out),
    }
}

/// Writes a repetition. Repeated classes become one terminal, which must not match the empty text.
fn repeat(inner: &GrammarExpression, least: u32, most: u32, out: &mut String) {
    let _ = match (inner, least, most) {
        (GrammarExpression::Class(class), 0, _) => write!(out, "/{}{{1,{most}}}/?", class_pattern(class)),
        (GrammarExpression::Class(class), ..) => write!(out, "/{}{{{least},{most}}}/", class_pattern(class)),
        (_, 0, 1) => {
            bracketed(inner, out);
            write!(out, "?")
        }
        _ => {
            bracketed(inner, out);
            write!(out, "{{{least},{most}}}")
        }
    };
}

fn bracketed(inner: &GrammarExpression, out: &mut String) {
    let needs = matches!(inner, GrammarExpression::Repeat(..));
    if needs {
        out.push('(');
    }
    write_expression(inner, true, out);
    if needs {
        out.push(')');
    }
}

/// Returns a class as part of a pattern between slashes.
fn class_pattern(class: &str) -> String {
    class.replace('/', "\\/")
}
