//! What an empty draft says: what to do, or what is missing.
//!
//! What may go here: those words. What may not: drawing them.

use super::Editor;
use crate::adapters::{COMMAND, is_prompt};
use crate::tui::keymap::key_name;
use crate::tui::world::World;
use crate::words::plain_text::{cut_cells, one_line};
use crate::words::why;

/// Most cells of a program's name.
const PROGRAM: usize = 24;

impl Editor {
    /// Returns what to do with an empty draft: three lines while the fleet is empty, one later.
    pub(super) fn hint(&self, world: &World) -> Vec<String> {
        if let Some(lines) = self.hint_of_brought(key_name!(Editor, Dispatch)) {
            return lines;
        }
        let kind = one_line(&world.options.kind);
        let known = self.kinds.iter().find(|known| known.name == world.options.kind);
        if kind.is_empty() || known.is_some_and(|known| !known.is_installed) {
            return self.hint_without_kind(&kind);
        }
        let is_prompt =
            known.map_or_else(|| is_prompt(&world.options.kind), |known| known.is_prompt);
        let enter = key_name!(Editor, Dispatch);
        // The program of a command line that was given is named instead of its kind.
        let given = world.options.command.as_ref().filter(|_| world.options.kind == COMMAND);
        let first = if let Some(program) = given.and_then(|command| command.first()) {
            let program = cut_cells(&why::head(last_part(program)), PROGRAM);
            format!("type a task for {program} and press {enter}: it runs behind the scenes")
        } else if is_prompt {
            format!("type a task for {kind} and press {enter}: an agent does it behind the scenes")
        } else {
            format!("type a command for {kind} and press {enter}: it runs behind the scenes")
        };
        if !world.snapshot.rows.is_empty() {
            return vec![first];
        }
        let line = key_name!(Editor, NewLine);
        let second = if is_prompt {
            format!("{line} makes a new line; a line --- between tasks makes an agent of each")
        } else {
            format!("{line} makes a new line; all lines are one task; a JSON list is several")
        };
        let third = format!(
            "{} changes kind, folder, budget and more; {} shows all keys",
            key_name!(Everywhere, Options),
            key_name!(Everywhere, Help)
        );
        vec![first, second, third]
    }

    fn hint_without_kind(&self, kind: &str) -> Vec<String> {
        let names = |is_wanted: &dyn Fn(&crate::tui::KindInfo) -> bool| {
            let wanted = self.kinds.iter().filter(|known| is_wanted(known));
            wanted.map(|known| one_line(&known.name)).collect::<Vec<_>>().join(", ")
        };
        let first = if kind.is_empty() {
            "no program that works on tasks was found on this computer".to_owned()
        } else {
            format!("{kind} was not found on this computer")
        };
        let absent = names(&|known| !known.is_installed && known.is_prompt);
        let present = names(&|known| known.is_installed);
        let mut lines = vec![first];
        if !absent.is_empty() {
            lines.push(format!("install one and start fleet again: {absent}"));
        }
        if !present.is_empty() {
            lines.push(format!(
                "or choose one that is there with {}: {present}",
                key_name!(Everywhere, Options)
            ));
        }
        lines
    }
}

/// Returns the name of a program without its folder.
fn last_part(program: &str) -> &str {
    program.rsplit('/').find(|part| !part.is_empty()).unwrap_or(program)
}
