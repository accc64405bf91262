//! Runs `terrapin push` and `terrapin pull`.

use std::sync::Arc;

use serde_json::json;
use terrapin_remote::Remote;

use super::super::pin::Pin;
use super::super::progress::Shown;
use super::super::{CommandError, diagnose, stdout, stop};
use super::error::error;
use super::{PlaceArgs, PullArgs, PushArgs, short_name};
use crate::base::untrusted;
use crate::load::{LoadProgress, Quiet};
use crate::size;

/// Runs `terrapin push`.
pub fn run_push(args: &PushArgs) -> Result<(), CommandError> {
    let place = &args.place;
    let (shown, remote) = (shown(place), remote(place)?);
    let result = remote.push(&args.snapshot, progress(shown.as_deref()));
    finish(shown.as_deref());
    let pushed = result.map_err(error)?;
    if place.json {
        let (digest, bytes, was_there) = (&pushed.digest, pushed.bytes, pushed.was_there);
        return stdout::print_json(
            &json!({"digest": digest, "place": pushed.place, "bytes": bytes, "was_there": was_there}),
        );
    }
    let what = if pushed.was_there { "was there already" } else { "sent" };
    stdout::print(&format!("{}\n{}: {}, {what}\n", pushed.digest, pushed.place, size::show(pushed.bytes)))
}

/// Runs `terrapin pull`.
pub fn run_pull(args: &PullArgs) -> Result<(), CommandError> {
    let place = &args.place;
    let named = short_name::find(args)?;
    if let Some(named) = &named
        && !place.json
    {
        let bytes = if named.bytes > 0 { size::show(named.bytes) } else { String::new() };
        let said = [&*named.description, &*bytes, &*named.licence].map(untrusted::line);
        let said: Vec<&str> = said.iter().map(|text| &**text).filter(|text| !text.is_empty()).collect();
        stdout::tell(&format!("{}: {}", place.address, said.join(", ")));
    }
    let digest = match &args.pin {
        None => {
            let digest = args.digest.as_ref().or(named.as_ref().map(|named| &named.digest));
            digest.map(|digest| digest.to_ascii_lowercase())
        }
        Some(path) => {
            let no_digest =
                || CommandError::input("pin-unreadable", format!("{}: the pin has no digest to fetch", path.display()));
            Some(Pin::read(path)?.digest.ok_or_else(no_digest)?)
        }
    };
    if digest.as_ref().is_some_and(|digest| digest.len() != 64 || !digest.bytes().all(|b| b.is_ascii_hexdigit())) {
        return Err(CommandError::usage("a digest has 64 hexadecimal digits, as `terrapin info` shows them"));
    }
    let address = named.as_ref().map_or(&place.address, |named| &named.url);
    let (shown, remote) = (shown(place), remote_at(address, place)?);
    say_what_stays(args).map_err(|e| CommandError::system("signals", e))?;
    let result = remote.pull(digest.as_deref(), &args.out, progress(shown.as_deref()));
    finish(shown.as_deref());
    let pulled = result.map_err(error)?;
    if place.json {
        let (digest, bytes, received) = (&pulled.digest, pulled.bytes, pulled.received);
        return stdout::print_json(&json!({"digest": digest, "bytes": bytes, "received": received}));
    }
    let (out, bytes, received) = (args.out.display(), size::show(pulled.bytes), size::show(pulled.received));
    stdout::print(&format!("{}\n{out}: {bytes}, {received} received\n", pulled.digest))
}

fn remote(place: &PlaceArgs) -> Result<Remote, CommandError> {
    remote_at(&place.address, place)
}

fn remote_at(address: &str, place: &PlaceArgs) -> Result<Remote, CommandError> {
    Remote::open(address, &place.settings).map_err(error)
}

fn shown(place: &PlaceArgs) -> Option<Arc<Shown>> {
    (!place.json).then(|| Arc::new(Shown::new()))
}

fn progress(shown: Option<&Shown>) -> &dyn LoadProgress {
    shown.map_or(&Quiet, |shown| shown)
}

fn finish(shown: Option<&Shown>) {
    if let Some(shown) = shown {
        shown.finish();
    }
}

/// Installs handlers so that a signal ends the transfer and reports how to resume it.
fn say_what_stays(args: &PullArgs) -> std::io::Result<()> {
    let (out, as_json) = (args.out.display().to_string(), args.place.json);
    stop::on_signal(move |signal| {
        let name = signal.name;
        let message =
            format!("stopped by {name}: {out} is incomplete; received data is kept, run the same command to resume");
        diagnose::report(&CommandError::stopped(signal.exit, message), as_json);
        std::process::exit(signal.exit as i32);
    })
}
