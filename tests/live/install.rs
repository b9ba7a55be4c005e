//! The pinned OpenCode, fetched once through npm into `target/`.
//!
//! Invariants: only a whole installation has the final name; a lock file makes parallel test processes fetch
//! once; nothing is installed globally and no script of a package runs.

use crate::support::variable;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The one version that these tests are about.
pub const VERSION: &str = "1.18.33";

/// The program `opencode` of that version.
pub fn opencode() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| find_or_fetch().unwrap_or_else(|why| panic!("{why}")))
}

fn find_or_fetch() -> Result<PathBuf, String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let home = target.join(format!("opencode-{VERSION}"));
    fs::create_dir_all(target).map_err(|error| format!("{}: {error}", target.display()))?;
    let lock = File::create(home.with_extension("33.lock")).map_err(|e| e.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if !home.exists() {
        fetch(&home)?;
    }
    program(&home)
}

fn fetch(home: &Path) -> Result<(), String> {
    let partial = home.with_extension("33.part");
    fs::remove_dir_all(&partial).ok();
    let done = Command::new("npm")
        .args(["install", "--prefix"])
        .arg(&partial)
        .args(["--ignore-scripts", "--no-audit", "--no-fund", "--no-save"])
        // A registry that cannot be reached is told within minutes, not waited for.
        .args(["--fetch-retries=3", "--fetch-retry-mintimeout=1000"])
        .args(["--fetch-retry-maxtimeout=5000", "--fetch-timeout=120000"])
        .arg(format!("opencode-ai@{VERSION}"))
        .output()
        .map_err(|error| unfetched(&error.to_string()))?;
    if !done.status.success() {
        return Err(unfetched(&String::from_utf8_lossy(&done.stderr)));
    }
    fs::rename(&partial, home).map_err(|error| error.to_string())
}

fn unfetched(why: &str) -> String {
    format!(
        "the live tests need OpenCode {VERSION}, which npm could not install ({}); \
         install npm, or set OCWATCH_SKIP_LIVE=1 to leave them out",
        why.trim()
    )
}

/// The first package of this platform whose program starts: npm also installs those for other processors
/// and C libraries.
fn program(home: &Path) -> Result<PathBuf, String> {
    let names = packages();
    let starts = |path: &PathBuf| {
        let version = Command::new(path).arg("--version").output();
        version.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).trim() == VERSION)
    };
    let paths = names.iter().map(|name| {
        let module = home.join("node_modules").join(name);
        module.join("bin/opencode")
    });
    paths.filter(|path| path.exists()).find(starts).ok_or_else(|| {
        format!(
            "none of {names:?} in {} starts as OpenCode {VERSION}; set OCWATCH_SKIP_LIVE=1 to leave the live tests out",
            home.display()
        )
    })
}

fn packages() -> Vec<String> {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let baseline = if arch == "x64" && !fast_processor() {
        "-baseline"
    } else {
        ""
    };
    let name = format!("opencode-{os}-{arch}{baseline}");
    vec![name.clone(), format!("{name}-musl")]
}

#[cfg(target_arch = "x86_64")]
fn fast_processor() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn fast_processor() -> bool {
    true
}

/// What a child process may know of our environment.
pub fn path() -> String {
    variable("PATH").unwrap_or_default()
}
