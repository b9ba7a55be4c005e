//! `ocwatch completions` and `ocwatch man`: written from the command line's own definition.

use crate::cli::args::Cli;
use crate::shell::exit::{Exit, Trouble};
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::Write;
use std::path::Path;

/// Completions for a shell.
pub(super) fn completions(shell: Shell, out: &mut impl Write) -> Result<Exit, Trouble> {
    let mut command = Cli::command();
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, "ocwatch", &mut text);
    out.write_all(&text)?;
    out.flush()?;
    Ok(Exit::Done)
}

/// The page of the whole program, or a file for each command.
pub(super) fn man(dir: Option<&Path>, out: &mut impl Write) -> Result<Exit, Trouble> {
    let Some(dir) = dir else {
        Man::new(Cli::command()).render(out)?;
        out.flush()?;
        return Ok(Exit::Done);
    };
    let failed = |path: &Path, why: std::io::Error| {
        let path = path.display();
        Trouble::Failed(format!("failed to write {path}: {why}"))
    };
    std::fs::create_dir_all(dir).map_err(|why| failed(dir, why))?;
    for command in with_all_below(Cli::command()) {
        let man = Man::new(command);
        let path = dir.join(man.get_filename());
        let mut page = Vec::new();
        man.render(&mut page)?;
        std::fs::write(&path, page).map_err(|why| failed(&path, why))?;
        writeln!(out, "{}", path.display())?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// A command and those below it. Once built, each shows its whole name: `ocwatch-config-init`.
fn with_all_below(command: clap::Command) -> Vec<clap::Command> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut all = vec![command];
    let mut next = 0;
    while let Some(command) = all.get(next) {
        let below = command.get_subcommands().filter(|it| !it.is_hide_set());
        let below: Vec<clap::Command> = below.cloned().collect();
        all.extend(below);
        next += 1;
    }
    all
}
