//! The file of the configuration, as it lies on the disk.
//!
//! What it does: read it, refuse what is no such file, and what others could have written or should
//! not read. What it does not: understand it.

use super::{Config, ConfigError, parse_all};
use directories::BaseDirs;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Bytes; no configuration is longer.
const LONGEST: u64 = 1024 * 1024;
const BY_OTHERS: u32 = 0o002;
const READ_BY_OTHERS: u32 = 0o044;

/// Reads the file that was named, or else the one in its usual place if it is there. Of several
/// mistakes the first is told.
pub fn load(named: Option<&Path>, usual: Option<&Path>) -> Result<Config, ConfigError> {
    let Some(path) = named.or(usual) else {
        return Ok(Config::default());
    };
    if named.is_none() && is_missing(path) {
        return Ok(Config::default());
    }
    load_with_text(path).map(|it| it.0)
}

/// Whether nothing is there; what cannot be looked at may be there.
pub fn is_missing(path: &Path) -> bool {
    std::fs::metadata(path).is_err_and(|why| why.kind() == ErrorKind::NotFound)
}

/// Reads a file and tells every mistake in it, in the order of the lines.
///
/// # Errors
/// It cannot be read, or not be trusted.
pub fn load_all(path: &Path) -> Result<(Config, Vec<ConfigError>), ConfigError> {
    let (text, meta) = text(path)?;
    Ok(parse_all(path, &text, is_shared(&meta)))
}

/// A configuration without a mistake, and its text; read once: it may be a pipe.
///
/// # Errors
/// Its first mistake, or that it cannot be read or trusted.
pub fn load_with_text(path: &Path) -> Result<(Config, String), ConfigError> {
    let (text, meta) = text(path)?;
    let (config, wrong) = parse_all(path, &text, is_shared(&meta));
    wrong.into_iter().next().map_or(Ok((config, text)), Err)
}

fn is_shared(meta: &Metadata) -> bool {
    meta.is_file() && meta.permissions().mode() & READ_BY_OTHERS != 0
}

/// The text of a file, and what the file is.
fn text(path: &Path) -> Result<(String, Metadata), ConfigError> {
    let refuse = |why: String| ConfigError::Read {
        path: path.to_owned(),
        why,
    };
    let fails = |why: std::io::Error| refuse(why.to_string());
    let file = File::open(path).map_err(fails)?;
    let meta = file.metadata().map_err(fails)?;
    if meta.is_dir() {
        return Err(refuse("that is a directory, not a file".to_owned()));
    }
    if meta.is_file() && meta.permissions().mode() & BY_OTHERS != 0 {
        let why = "everybody can write it, so what it says may be anybody's wish (chmod o-w it)";
        return Err(refuse(why.to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(fails)?;
    if bytes.len() as u64 > LONGEST {
        let why = "it is longer than 1 MiB: that is no configuration";
        return Err(refuse(why.to_owned()));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, meta)),
        Err(why) => {
            let good = why.utf8_error().valid_up_to();
            let before = why.as_bytes().iter().take(good);
            Err(ConfigError::Parse {
                path: path.to_owned(),
                line: before.filter(|byte| **byte == b'\n').count() + 1,
                why: "this is not UTF-8 text".to_owned(),
            })
        }
    }
}

/// A path as the configuration writes it: `~/` is the home, and what is not whole stands beside the
/// configuration's own file.
pub(super) fn beside(config: &Path, said: &Path) -> PathBuf {
    let home = said.strip_prefix("~").ok();
    let home = home.and_then(|rest| BaseDirs::new().map(|dirs| dirs.home_dir().join(rest)));
    home.unwrap_or_else(|| config.parent().map_or(said.to_owned(), |it| it.join(said)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;

    fn told(path: &Path) -> String {
        load(Some(path), None)
            .map(|_| ())
            .expect_err("refused")
            .to_string()
    }

    /// A file of this mode in a folder of its own.
    fn file(bytes: &[u8], mode: u32) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("c.toml");
        std::fs::write(&path, bytes).expect("a file");
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
        (dir, path)
    }

    #[test]
    fn a_missing_usual_file_is_no_error_but_a_named_one_is() {
        let missing = Path::new("/nonexistent/ocwatch/config.toml");
        assert!(load(None, Some(missing)).is_ok());
        assert!(load(Some(missing), None).is_err());
    }

    #[test]
    fn what_is_no_configuration_is_said_to_be_none() {
        let (dir, path) = file(b"inspect = \"all\"\n\n# \xff\n", 0o644);
        let shown = path.display();
        assert_eq!(told(&path), format!("{shown}:3: this is not UTF-8 text"));
        let folder = dir.path();
        let want = format!("{}: that is a directory, not a file", folder.display());
        assert_eq!(told(folder), want);
        let (_dir, path) = file(&vec![b'#'; 1024 * 1024 + 1], 0o644);
        assert!(told(&path).ends_with("it is longer than 1 MiB: that is no configuration"));
        let (_dir, path) = file(b"", 0o646);
        assert!(told(&path).contains("everybody can write it"));
        // A device is nobody's file: --config /dev/null is the usual way to have none.
        assert!(load(Some(Path::new("/dev/null")), None).is_ok());
    }

    #[test]
    fn a_password_in_a_file_that_others_can_read_is_refused_without_it() {
        let text = "[[server]]\nname = \"home\"\nurl = \"http://me:hunter2@h:1\"\n";
        let (_dir, path) = file(text.as_bytes(), 0o640);
        let told = told(&path);
        let want = ":3: `url` holds a password, and others can read this file: chmod 600 it, \
                    or name the password by `password_env` or `password_file`";
        assert!(told.ends_with(want) && !told.contains("hunter2"), "{told}");
        let (_dir, path) = file(text.as_bytes(), 0o600);
        assert!(load(Some(&path), None).is_ok());
        let without = text.replace(":hunter2", "");
        let (_dir, path) = file(without.as_bytes(), 0o644);
        assert!(load(Some(&path), None).is_ok());
    }

    #[test]
    fn a_password_file_stands_beside_the_configuration() {
        let text = "[[server]]\nname = \"home\"\nurl = \"h:1\"\npassword_file = \"pw\"\n";
        let (dir, path) = file(text.as_bytes(), 0o644);
        let config = load(Some(&path), None).expect("it reads");
        let want = dir.path().join("pw");
        assert_eq!(config.server[0].password_file.as_ref(), Some(&want));
        let whole = Path::new("/etc/pw");
        assert_eq!(beside(&path, whole), whole);
        assert!(beside(&path, Path::new("~/pw")).is_absolute());
    }
}
