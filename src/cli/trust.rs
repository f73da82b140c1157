//! `fleet trust`: shows what a project's file sets, and lets it be read from now on.
//!
//! What may go here: what is shown and asked. What may not: how the file is read and what was trusted (`config`).

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use super::act::{Failure, never_inside_of_agents, without_fleet};
use super::arguments::{GlobalArguments, TrustArguments};
use super::config::project::{PROJECT_FILE, ProjectFile, Trust, TrustList};
use super::config::{Config, Whose};
use super::exit_code::{DONE, NOT_DONE};
use super::look::print;
use super::run::current_folder;
use crate::journal::{folder_of, to_type};
use crate::runtime::depth;
use crate::words::plain_text::one_line;

/// Shows this folder's file and trusts it, or trusts it no more.
pub(super) fn trust(arguments: &TrustArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    never_inside_of_agents(depth(), "trust")?;
    without_fleet(global, "fleet trust is about the file of this folder")?;
    let folder = folder_of(&current_folder()?);
    let place = one_line(&folder.join(PROJECT_FILE).to_string_lossy());
    let list = TrustList::open().map_err(Failure::input)?;
    if arguments.remove {
        let was = list.forget(&folder).map_err(Failure::input)?;
        let said = if was { "is not trusted any more" } else { "was not trusted" };
        return tell(global, &place, "removed", &format!("{place} {said}"), &[]);
    }
    let file = ProjectFile::read(&folder)
        .map_err(|unfit| Failure::input(format!("{place} {unfit}; it was not trusted")))?
        .ok_or_else(|| {
            Failure::input(format!(
                "there is no {place}: write one with the keys of the owner's config file, such as max_parallel = 4, then \
                 {}",
                to_type("trust")
            ))
        })?;
    let runs = what_runs(&file)?;
    let trust = list.of(&file).map_err(Failure::input)?;
    if trust == Trust::Trusted {
        return tell(global, &place, "trusted", &format!("{place} is trusted already"), &runs);
    }
    let shown = shown(&file, &trust, &runs);
    if !arguments.yes && !is_agreed(&shown, global.json)? {
        let said = format!("{place} is not trusted");
        tell(global, &place, "untrusted", &said, &runs)?;
        return Ok(NOT_DONE);
    }
    if arguments.yes && !global.json {
        print(&shown.join("\n"), false)?;
    }
    list.trust(&file).map_err(Failure::input)?;
    let said =
        format!("{place} is trusted as it is now; after a change it has to be trusted again");
    tell(global, &place, "trusted", &said, &runs)
}

/// Returns the programs that a file lets run, for people; an error says what is wrong with the file.
fn what_runs(file: &ProjectFile) -> Result<Vec<String>, Failure> {
    let alone = owner_config()?
        .laid_over(&file.name(), &file.text, Whose::Project)
        .map_err(|error| Failure::input(format!("{error}; it was not trusted")))?;
    let owner = owner_config()?;
    let new = alone.kinds.iter().filter(|(name, kind)| owner.kinds.get(*name) != Some(kind));
    let told = new.map(|(name, kind)| {
        let mut words = kind.own.program.clone();
        if words.is_empty() {
            words.push(kind.own.adapter.0.clone());
        }
        words.extend(kind.own.options.iter().cloned());
        let words: Vec<String> = words.iter().map(|word| crate::journal::quoted(word)).collect();
        let env = if kind.env.is_empty() {
            String::new()
        } else {
            format!(" (needs {})", kind.env.join(", "))
        };
        one_line(&format!("--agent {name}: {}{env}", words.join(" ")))
    });
    Ok(told.collect())
}

/// Reads the owner's own file, whose kinds a project's may name.
fn owner_config() -> Result<Config, Failure> {
    Config::path()
        .map_or_else(|| Ok(Config::default()), |path| Config::read(&path))
        .map_err(Failure::input)
}

/// Returns the file and what it runs, each line harmless on a terminal. What is new since it was trusted is marked.
fn shown(file: &ProjectFile, trust: &Trust, runs: &[String]) -> Vec<String> {
    let before = match trust {
        Trust::Changed(before) => Some(before.lines().collect::<Vec<_>>()),
        Trust::Trusted | Trust::Never => None,
    };
    let how = if before.is_some() { "has changed since it was trusted" } else { "sets" };
    let mut lines = vec![format!("{} {how}:", file.name()), String::new()];
    lines.extend(file.text.lines().map(|line| {
        let is_new = before.as_ref().is_some_and(|before| !before.contains(&line));
        format!("  {} {}", if is_new { "+" } else { " " }, one_line(line))
    }));
    let now: Vec<&str> = file.text.lines().collect();
    let gone = before.into_iter().flatten().filter(|line| !now.contains(line));
    lines.extend(gone.map(|line| format!("  - {}", one_line(line))));
    if !runs.is_empty() {
        lines.push(String::new());
        lines.push(
            "It lets these programs run; what is in them can change without being asked:"
                .to_owned(),
        );
        lines.extend(runs.iter().map(|run| format!("    {run}")));
    }
    lines
}

/// Shows the file and asks. Without a terminal nobody can have seen it, so the answer has to be on the command line.
fn is_agreed(shown: &[String], is_json: bool) -> Result<bool, Failure> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    if is_json || !stdin.is_terminal() || !stdout.is_terminal() {
        let mut text = shown.join("\n");
        text.push('\n');
        // There is nobody else to tell.
        let _ = io::stderr().write_all(text.as_bytes());
        return Err(Failure::input(format!(
            "nobody can be asked here: read that, then {}",
            to_type("trust --yes")
        )));
    }
    print(&shown.join("\n"), false)?;
    let _ = write!(io::stdout(), "\nTrust it? [y/N] ").and_then(|()| io::stdout().flush());
    let mut answer = String::new();
    stdin
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Failure::input(format!("standard input could not be read: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn tell(
    global: &GlobalArguments,
    place: &str,
    status: &str,
    said: &str,
    runs: &[String],
) -> Result<u8, Failure> {
    if global.json {
        let json = serde_json::json!({ "file": place, "status": status, "runs": runs });
        print(&json.to_string(), true)?;
    } else {
        print(said, false)?;
    }
    Ok(DONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> ProjectFile {
        ProjectFile { path: "/p/.fleet.toml".into(), text: text.to_owned() }
    }

    #[test]
    fn every_line_is_shown_harmless_and_what_is_new_is_marked() {
        let before = Trust::Changed("cap = 1\n# old\n".to_owned());
        let now = file("cap = 1\norder = [\"a\u{1b}[2Jb\"]\n");
        let text = shown(&now, &before, &["--agent x: ./run".to_owned()]).join("\n");
        assert!(text.contains("has changed since it was trusted"), "{text}");
        assert!(
            text.contains("    cap = 1\n")
                && text.contains("  + order")
                && text.contains("  - # old")
        );
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.ends_with("--agent x: ./run"), "{text}");
        assert!(!shown(&now, &Trust::Never, &[]).join("\n").contains("  + "));
    }
}
