//! `[ssh]` of the configuration: what is run for servers of `ssh://`.

use super::section::Section;
use super::wrong::{Wrong, unknown};
use toml::Value;

/// The program and the arguments before ours, if said.
pub(super) fn read(section: &Section, wrong: &mut Vec<Wrong>) -> Option<Vec<String>> {
    let mut command = None;
    for line in section.lines() {
        let done = match line.key.as_str() {
            "command" => words(&line.value).map(|it| command = Some(it)),
            name => Err(unknown(
                "key of [ssh]",
                name,
                ["command"],
                ", expected command",
            )),
        };
        line.note(done, wrong);
    }
    command
}

fn words(value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().filter(|list| !list.is_empty());
    let words: Option<Vec<&str>> = list.and_then(|list| list.iter().map(Value::as_str).collect());
    let words = words.filter(|words| words.first().is_some_and(|it| !it.is_empty()));
    let words = words.ok_or("`command` must be a list like [\"ssh\", \"-F\", \"/path/config\"]")?;
    Ok(words.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use std::path::Path;

    #[test]
    fn it_reads_and_mistakes_name_their_line() {
        let said = |text: &str| {
            let config = parse(Path::new("c.toml"), &format!("[ssh]\n{text}\n"));
            config
                .map(|it| it.ssh_command)
                .map_err(|why| why.to_string())
        };
        assert_eq!(said(""), Ok(None));
        let command = said("command = [\"ssh\", \"-v\"]").expect("it reads");
        assert_eq!(command.unwrap_or_default(), ["ssh", "-v"]);
        for (text, want) in [
            ("comand = []", "did you mean `command`?"),
            ("command = \"ssh\"", "must be a list like"),
            ("command = []", "must be a list like"),
        ] {
            let told = said(text).expect_err(text);
            assert!(
                told.starts_with("c.toml:2: ") && told.contains(want),
                "{told}"
            );
        }
    }
}
