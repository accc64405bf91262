//! The tokens of clients, read from a file. Each line has a token's name, the SHA-256 of the token in hexadecimal, and
//! optionally `admin`, which allows stopping the queries of all clients. The file contains only hashes, so that reading
//! it does not reveal a token.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use axum::http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};

/// The token file and its current content.
pub struct TokenFile {
    path: PathBuf,
    list: RwLock<Arc<[AccessToken]>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct AccessToken {
    name: Arc<str>,
    digest: [u8; 32],
    admin: bool,
}

/// An error in the token file.
#[derive(Debug, PartialEq, Eq)]
pub struct TokenFileError(String);

impl fmt::Display for TokenFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The result of a request's token check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bearer {
    /// No token is required.
    Anyone,
    /// The request has no token.
    Missing,
    /// The request's token is not in the file.
    Unknown,
    /// The request's token is in the file.
    Known {
        /// The token's name.
        name: Arc<str>,
        /// Whether it allows stopping the queries of all clients.
        admin: bool,
    },
}

impl TokenFile {
    /// Reads the token file.
    pub fn read(path: &Path) -> Result<TokenFile, TokenFileError> {
        Ok(TokenFile { path: path.to_owned(), list: RwLock::new(list(path)?) })
    }

    /// Reloads the token file and returns the number of tokens. If the file is invalid, the previous tokens stay valid.
    pub fn reload(&self) -> Result<usize, TokenFileError> {
        let new = list(&self.path)?;
        let count = new.len();
        *self.list.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(count)
    }

    /// Checks the token in the header `Authorization: Bearer ...`.
    pub fn bearer(&self, headers: &HeaderMap) -> Bearer {
        let Some(value) = headers.get(header::AUTHORIZATION) else { return Bearer::Missing };
        let value = value.as_bytes();
        let (scheme, token) = value.split_at(value.iter().position(|b| *b == b' ').unwrap_or(value.len()));
        if !scheme.eq_ignore_ascii_case(b"bearer") {
            return Bearer::Missing;
        }
        let digest: [u8; 32] = Sha256::digest(token.trim_ascii()).into();
        let list = Arc::clone(&self.list.read().unwrap_or_else(PoisonError::into_inner));
        // Every digest is compared completely, so that the time taken reveals nothing about the tokens.
        let mut found = 0_u64;
        for (number, token) in (1_u64..).zip(list.iter()) {
            found.conditional_assign(&number, token.digest.ct_eq(&digest));
        }
        let found = usize::try_from(found).ok().and_then(|number| list.get(number.checked_sub(1)?));
        found.map_or(Bearer::Unknown, |token| Bearer::Known { name: Arc::clone(&token.name), admin: token.admin })
    }
}

fn list(path: &Path) -> Result<Arc<[AccessToken]>, TokenFileError> {
    let wrong = |problem: String| TokenFileError(format!("{}{problem}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| wrong(format!(": cannot be read: {e}")))?;
    parse(&text).map_err(|(line, problem)| wrong(format!(":{line}: {problem}")))
}

/// Parses the file. Error messages never contain the text of a line, because it may contain a token by mistake.
fn parse(text: &str) -> Result<Arc<[AccessToken]>, (usize, &'static str)> {
    let mut tokens: Vec<AccessToken> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut words = line.split_whitespace();
        let Some(name) = words.next().filter(|word| !word.starts_with('#')) else { continue };
        if name.len() > 64 || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._@-".contains(&b)) {
            return Err((number, "a name has at most 64 letters, digits and `.`, `_`, `@`, `-`"));
        }
        let digest = words.next().and_then(digest).ok_or((
            number,
            "expected a name and the token's SHA-256, 64 hexadecimal digits: printf %s \"$TOKEN\" | sha256sum",
        ))?;
        let admin = match (words.next(), words.next()) {
            (None, _) => false,
            (Some("admin"), None) => true,
            _ => return Err((number, "unexpected text after the SHA-256: only `admin` is allowed")),
        };
        if tokens.iter().any(|known| known.digest == digest) {
            return Err((number, "this token is in the file twice"));
        }
        tokens.push(AccessToken { name: name.into(), digest, admin });
    }
    if tokens.is_empty() {
        return Err((1, "the token file is empty: every request would be rejected"));
    }
    Ok(tokens.into())
}

fn digest(hex: &str) -> Option<[u8; 32]> {
    let digits = hex.as_bytes();
    let mut digest = [0; 32];
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, at) in digest.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, token: &str, rest: &str) -> String {
        let hex: String = Sha256::digest(token).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{name} {hex}{rest}\n")
    }

    #[test]
    fn a_token_is_found_by_its_digest_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let text = format!("# ours\n\n{}{}", line("ann", "one", ""), line("root", "two", " admin"));
        std::fs::write(&path, text).unwrap();
        let tokens = TokenFile::read(&path).unwrap();
        let bearer = |value: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.insert(header::AUTHORIZATION, value.parse().unwrap());
            }
            tokens.bearer(&headers)
        };
        let known = |name: &str, admin| Bearer::Known { name: name.into(), admin };
        assert_eq!(bearer(Some("Bearer one")), known("ann", false));
        assert_eq!(bearer(Some("bearer  two")), known("root", true));
        for wrong in ["Bearer three", "Bearer", "Bearer ", "Bearer on", "Bearer onee"] {
            assert_eq!(bearer(Some(wrong)), Bearer::Unknown, "{wrong}");
        }
        assert_eq!((bearer(None), bearer(Some("Basic b25l"))), (Bearer::Missing, Bearer::Missing));

        std::fs::write(&path, "broken").unwrap();
        assert!(tokens.reload().is_err());
        assert_eq!(bearer(Some("Bearer one")), known("ann", false));
        std::fs::write(&path, line("ann", "three", "")).unwrap();
        assert_eq!(tokens.reload(), Ok(1));
        assert_eq!((bearer(Some("Bearer one")), bearer(Some("Bearer three"))), (Bearer::Unknown, known("ann", false)));
    }

    #[test]
    fn what_is_wrong_in_a_file_is_told_without_what_it_says() {
        let twice = line("a", "one", "") + &line("b", "one", "");
        let more = line("a", "one", " admiral");
        for (text, at, words) in [
            ("", 1, "the token file is empty"),
            ("# nothing\n", 1, "the token file is empty"),
            ("ann secret", 1, "sha256sum"),
            ("\nann", 2, "sha256sum"),
            ("a/b x", 1, "a name has"),
            (twice.as_str(), 2, "twice"),
            (more.as_str(), 1, "only `admin` is allowed"),
        ] {
            let (line, problem) = parse(text).unwrap_err();
            assert!(line == at && problem.contains(words) && !problem.contains("secret"), "{text:?}: {line} {problem}");
        }
    }
}
