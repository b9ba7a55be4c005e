//! The program in a tmux window of its own.
//!
//! What it does: ask tmux for the window. What it does not: wait for its end. The password cannot go
//! through tmux, whose arguments everybody can read: it lies in a file that only its owner can read,
//! which a line of `sh` in the window takes, removes, and then starts the program. No word of a server
//! stands in that line, and tmux is given the program as it is, without a shell.

use super::{Errand, PASSWORD, USER};
use crate::core::present::clean;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempPath;
use tokio::process::Command;
use tokio::time::{sleep, timeout};

/// Takes the file `$0`, removes it, runs the rest; stays where there is something to read.
const LINE: &str = r#". "$0"; rm -f -- "$0"; "$@"; code=$?
[ "$code" -eq 0 ] || { printf '\nit ended with %s; Enter closes this window ' "$code"; read -r _; }"#;
/// How long tmux may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the window may take to have read its file.
const READ: Duration = Duration::from_secs(30);

/// Opens the window. The error fits after "attach: ".
pub async fn open(errand: &Errand) -> Result<(), String> {
    let file =
        secret(errand).map_err(|why| format!("no file for the window can be made: {why}"))?;
    let mut tmux = Command::new("tmux");
    tmux.args(["new-window", "-n", "opencode", "sh", "-c", LINE]);
    tmux.arg(&*file);
    tmux.args(errand.command.iter().map(|word| as_is(word)));
    for name in errand.hidden.iter() {
        tmux.env_remove(name);
    }
    tmux.env_remove(PASSWORD);
    tmux.stdin(Stdio::null()).kill_on_drop(true);
    let ran = timeout(PATIENCE, tmux.output()).await;
    let ran = ran.map_err(|_| "tmux does not answer".to_owned())?;
    let ran = ran.map_err(|why| format!("tmux cannot be started: {why}"))?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        return Err(format!("tmux opened no window: {}", clean(said.trim())));
    }
    tokio::spawn(async move {
        sleep(READ).await;
        // The window has removed it, unless it was closed before.
        drop(file);
    });
    Ok(())
}

/// tmux takes a `;` at the end of a word for the end of its own command: what stood behind it would
/// be another one.
fn as_is(word: &str) -> String {
    match word.strip_suffix(';') {
        Some(rest) => format!("{rest}\\;"),
        None => word.to_owned(),
    }
}

/// A file that only its owner can read, for `sh`.
fn secret(errand: &Errand) -> std::io::Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix("ocwatch-").tempfile()?;
    writeln!(file, "unset {USER} {PASSWORD}")?;
    if let Some(who) = &errand.credentials {
        writeln!(file, "{USER}={}; export {USER}", quoted(&who.user))?;
        writeln!(
            file,
            "{PASSWORD}={}; export {PASSWORD}",
            quoted(&who.password)
        )?;
    }
    file.flush()?;
    Ok(file.into_temp_path())
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_ends_the_command_of_tmux() {
        assert_eq!(as_is("/srv/a;"), "/srv/a\\;");
        assert_eq!(as_is("a;b"), "a;b");
        assert_eq!(as_is(";"), "\\;");
    }
    use crate::net::client::Credentials;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    fn errand(command: &[&str], password: &str) -> Errand {
        Errand {
            command: command.iter().map(ToString::to_string).collect(),
            credentials: Some(Credentials::new(None, password)),
            hidden: Arc::default(),
        }
    }

    #[test]
    fn the_line_hands_the_password_on_and_removes_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let script = format!(
            "printf '%s %s' \"$OPENCODE_SERVER_USERNAME\" \"$OPENCODE_SERVER_PASSWORD\" > {}",
            out.display()
        );
        let errand = errand(&["sh", "-c", &script], "it's $(a) \"secret\"");
        let file = secret(&errand).unwrap();
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
        let mut sh = std::process::Command::new("sh");
        let ran = sh
            .args(["-c", LINE])
            .arg(&*file)
            .args(&errand.command)
            .status();
        assert!(ran.unwrap().success());
        assert_eq!(
            std::fs::read_to_string(&out).unwrap(),
            "opencode it's $(a) \"secret\""
        );
        assert!(!file.exists());
    }
}
