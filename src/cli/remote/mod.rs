//! `terrapin push` and `terrapin pull`: snapshots in object storage. The commands exist in every build; `transfer.rs`, which
//! runs them, only in one with the feature `remote`.

#[cfg(feature = "remote")]
mod transfer;

use std::path::PathBuf;

#[cfg(feature = "remote")]
pub use transfer::{run_pull, run_push};

#[cfg(not(feature = "remote"))]
use super::{Error, features};

/// Put a snapshot into object storage, under its digest
///
/// S3, Google Cloud Storage, Azure, a folder (file:///...). The snapshot is verified before, sent as it is, and seen by
/// nobody before it is whole; one that is there already is not sent again. Keys and settings of the storage come from the
/// environment (AWS_ACCESS_KEY_ID, GOOGLE_SERVICE_ACCOUNT, AZURE_STORAGE_ACCOUNT_KEY, ...) or from --set.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin push malta.terrapin s3://benchmarks/snapshots
  terrapin push malta.terrapin s3://benchmarks --set aws_endpoint=http://127.0.0.1:9000 --set aws_allow_http=true")]
#[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "read by transfer.rs"))]
pub struct PushArgs {
    /// The snapshot file
    snapshot: PathBuf,
    #[command(flatten)]
    place: PlaceArgs,
}

/// Fetch a snapshot from object storage, or from any web server, by its digest
///
/// What arrives is held against the snapshot's checksums while it arrives. A transfer that breaks off goes on where it
/// was when the same command is run again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin pull s3://benchmarks/snapshots 0e4326ec8dcdf1281232227296753a0f006507e46b70e0393e5eda51862090be --out malta.terrapin
  terrapin pull https://example.org/malta.terrapin --pin snapshots/malta-demo.toml --out malta.terrapin")]
#[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "read by transfer.rs"))]
pub struct PullArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// The snapshot's digest; not needed where the address is that of a file
    #[arg(conflicts_with = "pin")]
    digest: Option<String>,
    /// The file to make; one that is there is replaced in one step at the end
    #[arg(long, value_name = "NAME.terrapin")]
    out: PathBuf,
    /// The pin whose snapshot to fetch
    #[arg(long, value_name = "FILE")]
    pin: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "read by transfer.rs"))]
struct PlaceArgs {
    /// Where snapshots lie: s3://bucket/folder, gs://..., az://..., https://..., file:///folder; or one, NAME.terrapin
    #[arg(value_name = "URL")]
    address: String,
    /// A setting of the storage, such as aws_endpoint=http://127.0.0.1:9000
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    /// As one JSON object, and nothing of the progress
    #[arg(long)]
    json: bool,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, such as aws_region=eu-west-1")?;
    Ok((key.to_ascii_lowercase(), value.to_owned()))
}

/// Refuses: this build cannot reach object storage.
#[cfg(not(feature = "remote"))]
pub fn run_push(_: &PushArgs) -> Result<(), Error> {
    Err(features::missing("`terrapin push`", "remote"))
}

/// Refuses: this build cannot reach object storage.
#[cfg(not(feature = "remote"))]
pub fn run_pull(_: &PullArgs) -> Result<(), Error> {
    Err(features::missing("`terrapin pull`", "remote"))
}
