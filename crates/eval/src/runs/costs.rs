//! The costs of a model's replies in a run of questions: tokens of `asked.jsonl` and seconds of `times.jsonl`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::input::read_lines;

/// The price of tokens, for a million of them, in any currency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenPrice {
    /// The price of a million tokens in prompts.
    pub prompt: f64,
    /// The price of a million tokens in replies.
    pub completion: f64,
}

impl std::str::FromStr for TokenPrice {
    type Err = String;

    fn from_str(text: &str) -> Result<TokenPrice, String> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|price| price.is_finite() && *price >= 0.0);
        let prices = text.split_once(',').and_then(|(prompt, completion)| Some((number(prompt)?, number(completion)?)));
        let (prompt, completion) = prices.ok_or("expected two prices of a million tokens, such as 0.15,0.6")?;
        Ok(TokenPrice { prompt, completion })
    }
}

/// The costs of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RunCosts {
    /// Mean tokens in the prompts of a question.
    pub prompt_tokens: f64,
    /// Mean tokens in the replies of a question.
    pub reply_tokens: f64,
    /// Whether some counts are missing or estimates, so that the means are lower bounds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimate: bool,
    /// Mean seconds of a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The price of all questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
}

#[derive(Deserialize)]
struct AskedLine {
    tokens: TokenLine,
}

#[derive(Deserialize)]
struct TokenLine {
    prompt: u64,
    completion: u64,
    #[serde(default)]
    estimate: bool,
}

#[derive(Deserialize)]
struct TimesLine {
    seconds: f64,
}

impl RunCosts {
    /// Reads the costs of a run from its folder; `None` for a run without questions to a model.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn read(folder: &Path, price: Option<TokenPrice>) -> Result<Option<RunCosts>, RunError> {
        let (asked, times) = (folder.join("asked.jsonl"), folder.join("times.jsonl"));
        if !asked.is_file() {
            return Ok(None);
        }
        // The first line has the settings.
        let lines = read_lines(&asked)?;
        let asked: Vec<TokenLine> = (lines.iter().skip(1))
            .filter_map(|line| serde_json::from_str::<AskedLine>(line).ok())
            .map(|line| line.tokens)
            .collect();
        if asked.is_empty() {
            return Ok(None);
        }
        let lines = if times.is_file() { read_lines(&times)? } else { Vec::new() };
        let seconds: Vec<f64> = (lines.iter())
            .filter_map(|line| serde_json::from_str::<TimesLine>(line).ok())
            .map(|line| line.seconds)
            .collect();
        let sum = |count: fn(&TokenLine) -> u64| asked.iter().map(|line| count(line) as f64).sum::<f64>();
        let (prompt, completion) = (sum(|line| line.prompt), sum(|line| line.completion));
        let count = asked.len() as f64;
        Ok(Some(RunCosts {
            prompt_tokens: prompt / count,
            reply_tokens: completion / count,
            estimate: asked.iter().any(|line| line.estimate),
            seconds: (!seconds.is_empty()).then(|| seconds.iter().sum::<f64>() / seconds.len() as f64),
            price: price.map(|price| (prompt * price.prompt + completion * price.completion) / 1e6),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_of_a_million_tokens() {
        let folder = tempfile::tempdir().unwrap();
        let read = |price: &str| RunCosts::read(folder.path(), Some(price.parse().unwrap())).unwrap();
        assert_eq!(read("1,2"), None);
        let asked = "{\"engine\": \"x\"}\n{\"tokens\": {\"prompt\": 1500, \"completion\": 100}}\n\
                     {\"tokens\": {\"prompt\": 500, \"completion\": 300}}\n";
        std::fs::write(folder.path().join("asked.jsonl"), asked).unwrap();
        std::fs::write(folder.path().join("times.jsonl"), "{\"seconds\": 1.5}\n{\"seconds\": 2.5}\n").unwrap();
        let costs = read("0.5,2").unwrap();
        assert_eq!((costs.prompt_tokens, costs.reply_tokens, costs.seconds), (1000.0, 200.0, Some(2.0)));
        // 2,000 tokens at 0.5 and 400 at 2 for a million.
        assert!((costs.price.unwrap() - (0.001 + 0.0008)).abs() < 1e-12, "{costs:?}");
        for wrong in ["1", "1,", "a,b", "-1,1", "1,inf"] {
            assert!(wrong.parse::<TokenPrice>().is_err(), "{wrong}");
        }
    }
}
