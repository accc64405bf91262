//! `terrapin push` and `terrapin pull`: snapshots in object storage. Every build has the commands; `transfer.rs`,
//! which runs them, needs the feature `remote`.

#[cfg(feature = "remote")]
mod error;
#[cfg(feature = "remote")]
mod short_name;
#[cfg(feature = "remote")]
mod transfer;

use std::path::PathBuf;

#[cfg(feature = "remote")]
pub use transfer::{run_pull, run_push};

#[cfg(not(feature = "remote"))]
use super::{CommandError, features};

/// Upload a snapshot to object storage, under its digest
///
/// Supports S3, Google Cloud Storage, Azure and folders. The snapshot is verified first and becomes
/// visible only when the upload is complete; an existing one is not sent again. Credentials and settings of the
/// storage come from the environment (AWS_ACCESS_KEY_ID, GOOGLE_SERVICE_ACCOUNT, AZURE_STORAGE_ACCOUNT_KEY, ...) or
/// from --set.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin push malta.terrapin s3://benchmarks/snapshots
  terrapin push malta.terrapin ./published
  terrapin push malta.terrapin s3://benchmarks --set aws_endpoint=http://127.0.0.1:9000 --set aws_allow_http=true")]
pub struct PushArgs {
    /// The snapshot file
    snapshot: PathBuf,
    #[command(flatten)]
    place: PlaceArgs,
}

/// Download a snapshot from object storage or from a web server, by its digest
///
/// Received data is checked against the snapshot's checksums on arrival. After a failure, the same command resumes
/// the transfer.
///
/// A short name such as demo, in place of an address, is looked up in an index: a JSON file with a signature of
/// minisign. An index without a valid signature of --key, an expired one, and one older than an index seen before are
/// rejected. The highest number seen is kept in XDG_STATE_HOME/terrapin.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin pull s3://benchmarks/snapshots 0e4326ec8dcdf1281232227296753a0f006507e46b70e0393e5eda51862090be --out malta.terrapin
  terrapin pull demo --index https://example.org/index.json --key RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3 --out malta.terrapin
  terrapin pull https://example.org/malta.terrapin --pin snapshots/malta-demo.toml --out malta.terrapin")]
pub struct PullArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Digest of the snapshot; optional if the address is that of a file
    #[arg(conflicts_with = "pin")]
    digest: Option<String>,
    /// File to write; an existing one is replaced atomically at the end
    #[arg(long, value_name = "NAME.terrapin")]
    out: PathBuf,
    /// Pin of the snapshot to fetch
    #[arg(long, value_name = "FILE")]
    pin: Option<PathBuf>,
    /// Address of the index of short names
    #[arg(long, value_name = "URL", env = "TERRAPIN_INDEX")]
    index: Option<String>,
    /// Public key of the index: base64 of minisign, or a file with it
    #[arg(long, value_name = "KEY", env = "TERRAPIN_INDEX_KEY")]
    key: Option<String>,
}

#[derive(Debug, clap::Args)]
struct PlaceArgs {
    /// Address of the storage: s3://bucket/folder, gs://..., az://..., https://..., file:///folder, or the path of a
    /// folder, ./folder; or of one snapshot, NAME.terrapin; to pull, also a short name of an index
    #[arg(value_name = "URL")]
    address: String,
    /// Setting of the storage, such as aws_endpoint=http://127.0.0.1:9000
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    /// Print the result as one JSON object, and no progress
    #[arg(long)]
    json: bool,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, such as aws_region=eu-west-1")?;
    Ok((key.to_ascii_lowercase(), value.to_owned()))
}

/// Returns an error: this build cannot access object storage.
#[cfg(not(feature = "remote"))]
pub fn run_push(_: &PushArgs) -> Result<(), CommandError> {
    Err(features::missing("`terrapin push`", "remote"))
}

/// Returns an error: this build cannot access object storage.
#[cfg(not(feature = "remote"))]
pub fn run_pull(_: &PullArgs) -> Result<(), CommandError> {
    Err(features::missing("`terrapin pull`", "remote"))
}
