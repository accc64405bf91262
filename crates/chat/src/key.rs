//! API keys.

use std::fmt;
use std::path::Path;

/// Maximum number of bytes to read of a key file.
const LONGEST: u64 = 8 << 10;
/// Replaces a key in texts.
const HIDDEN: &str = "[key]";

/// A key. Neither `{}` nor `{:?}` prints it.
#[derive(Clone)]
pub struct ApiKey(String);

/// A key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read.
    #[error("cannot read the model's key from {path}: {source}")]
    Unreadable {
        /// Its path.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The key is empty or contains other characters than printable ASCII.
    #[error("the model's key must be one line of printable ASCII and not empty")]
    Unfit,
}

impl ApiKey {
    /// Creates a key, without surrounding white space.
    ///
    /// # Errors
    /// Returns an error if the key is empty, or contains characters that are invalid in an HTTP header.
    pub fn new(text: &str) -> Result<ApiKey, KeyError> {
        let key = text.trim();
        let is_fit = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        if is_fit { Ok(ApiKey(key.to_owned())) } else { Err(KeyError::Unfit) }
    }

    /// Reads the key in a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or contains no valid key.
    pub fn read(path: &Path) -> Result<ApiKey, KeyError> {
        use std::io::Read;
        let unreadable = |source| KeyError::Unreadable { path: path.display().to_string(), source };
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(unreadable)?;
        file.take(LONGEST).read_to_string(&mut text).map_err(unreadable)?;
        ApiKey::new(&text)
    }

    /// Returns the key itself, for the `Authorization` header.
    #[cfg(feature = "http")]
    pub(crate) fn bare(&self) -> &str {
        &self.0
    }

    /// Returns a text with the key replaced.
    pub fn hide(&self, text: String) -> String {
        if text.contains(&self.0) { text.replace(&self.0, HIDDEN) } else { text }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let key = ApiKey::new(" sk-secret\n").unwrap();
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "[key] Some([key])");
        assert_eq!(key.hide("no key sk-secret here".to_owned()), "no key [key] here");
        for wrong in ["", "\n", "a b", "a\nb", "schl\u{fc}ssel"] {
            assert!(ApiKey::new(wrong).is_err(), "{wrong:?}");
        }
        let error = ApiKey::read(Path::new("/nowhere/key")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/key"), "{error}");
    }
}
