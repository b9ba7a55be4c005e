//! `ocwatch export`: a session as a file.

use super::{client, locate_all, may_export, warn_if_asleep};
use crate::core::id::SessionKey;
use crate::core::present::clean;
use crate::net::client::Client;
use crate::shell::act::export::{Place, export, export_to, file_name};
use crate::shell::exit::{Exit, Trouble};
use crate::shell::session_ref::Purpose;
use crate::shell::snapshot::Snapshot;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where an export goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// `<id>.json` in this directory.
    Directory(PathBuf),
    /// This file.
    File(PathBuf),
    /// The results' own stream.
    Stdout,
}

/// `ocwatch export`.
pub async fn export_all(
    mut snapshot: Snapshot,
    clients: &[Client],
    sessions: &[String],
    output: &Output,
    force: bool,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let keys = locate_all(&mut snapshot, sessions, Purpose::Read).await?;
    for key in keys {
        may_export(&snapshot, &key)?;
        warn_if_asleep(&snapshot, &key);
        let client = client(clients, &key)?;
        export_one(client, &key, output, force, out).await?;
    }
    Ok(Exit::Done)
}

async fn export_one(
    client: &Client,
    key: &SessionKey,
    output: &Output,
    force: bool,
    out: &mut impl Write,
) -> Result<(), Trouble> {
    let failed = |why: crate::shell::act::export::ExportError| {
        if why.is_closed_pipe() {
            return Trouble::Write(std::io::ErrorKind::BrokenPipe.into());
        }
        let id = clean(key.session.as_str());
        Trouble::Failed(clean(&format!("failed to export {id}: {why}")))
    };
    let path = match output {
        Output::Stdout => {
            export_to(client, &key.session, out).await.map_err(failed)?;
            return Ok(());
        }
        Output::File(path) => path.clone(),
        Output::Directory(dir) => dir.join(file_name(&key.session)),
    };
    let place = Place::Exactly { path, force };
    let done = export(client, &key.session, place).await.map_err(failed)?;
    writeln!(out, "{}", done.path.display())?;
    Ok(())
}

/// Where an export is to go, as the user said it.
pub fn output(said: Option<&Path>, sessions: usize) -> Result<Output, Trouble> {
    let output = match said {
        None => Output::Directory(PathBuf::from(".")),
        Some(path) if path == Path::new("-") => Output::Stdout,
        Some(path) if path.is_dir() => Output::Directory(path.to_owned()),
        Some(path) => Output::File(path.to_owned()),
    };
    if sessions > 1 && !matches!(output, Output::Directory(_)) {
        return Err(Trouble::Usage(
            "several sessions do not fit into one file: give -o a directory".to_owned(),
        ));
    }
    Ok(output)
}
