//! `fleet man`: the manual pages, made from the same definition as `--help`.
//!
//! What may go here: pages and where they go. What may not: what they say.

use std::fs;
use std::io;
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::act::Failure;
use super::arguments::{Arguments, ManArguments};
use super::exit_code::DONE;
use super::look::print;
use super::nearest::hint;
use crate::words::plain_text::{count, one_line};

/// Prints one page, or writes all of them into a folder.
pub(super) fn man(arguments: &ManArguments) -> Result<u8, Failure> {
    let mut whole = Arguments::command();
    whole.build();
    if let Some(folder) = &arguments.dir {
        let written = write_all(&whole, folder).map_err(|error| {
            let folder = one_line(&folder.to_string_lossy());
            Failure::input(format!("could not write manual pages to {folder}: {error}"))
        })?;
        let folder = one_line(&folder.to_string_lossy());
        print(&format!("{} written to {folder}", count(written, "page")), false)?;
        return Ok(DONE);
    }
    let command = match arguments.subcommand.as_deref() {
        None => &whole,
        Some(name) => whole.find_subcommand(name).ok_or_else(|| {
            let names: Vec<&str> = shown(&whole).map(Command::get_name).collect();
            Failure::input(format!(
                "there is no subcommand {}{}",
                one_line(name),
                hint(name, &names)
            ))
        })?,
    };
    let page = page(command).map_err(|error| Failure::input(error.to_string()))?;
    print(String::from_utf8_lossy(&page).trim_end(), false)?;
    Ok(DONE)
}

fn shown(whole: &Command) -> impl Iterator<Item = &Command> {
    whole.get_subcommands().filter(|command| !command.is_hide_set())
}

fn write_all(whole: &Command, folder: &Path) -> io::Result<usize> {
    fs::create_dir_all(folder)?;
    let mut written = 0;
    for command in shown(whole).chain([whole]) {
        let name = Man::new(command.clone()).get_filename();
        fs::write(folder.join(name), page(command)?)?;
        written += 1;
    }
    Ok(written)
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone())
        .manual("Fleet")
        .date("")
        .source(concat!("fleet ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if shown(command).next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(examples) = command.get_after_help() {
        // Line by line, as it stands in the help: these are commands to type.
        let mut roff = Roff::new();
        roff.control("SH", ["EXAMPLES"]).control("nf", []);
        for line in examples.to_string().lines().skip_while(|line| *line == "Examples:") {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
        roff.to_writer(&mut page)?;
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_has_a_page_with_its_examples_line_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut whole = Arguments::command();
        whole.build();
        let written = write_all(&whole, folder.path()).unwrap();
        assert_eq!(written, shown(&whole).count() + 1);
        let retry = fs::read_to_string(folder.path().join("fleet-retry.1")).unwrap();
        assert!(
            retry.contains(".SH EXAMPLES\n.nf\n") && retry.contains("fleet retry failed"),
            "{retry}"
        );
        assert!(folder.path().join("fleet.1").exists());
    }
}
