//! The keys that work now, or what became of the last one.
//!
//! What may go here: which keys of a place fit, and where their names are. What may not: what a key does; the words of a
//! remark.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::cells::put;
use super::flash::Flash;
use super::keymap::{self, Action, Binding, Place};
use super::theme::Tone;
use super::world::World;
use crate::words::plain_text::{cells, one_line};

/// Blanks between two keys.
const BETWEEN: u16 = 2;

/// Draws the keys of a place, or the remark instead.
pub(crate) fn draw(
    area: Rect,
    buffer: &mut Buffer,
    world: &World,
    place: Place,
    flash: Option<&Flash>,
) {
    let theme = world.theme;
    if let Some(flash) = flash {
        let text = one_line(&flash.text);
        let at = (area.x.saturating_add(1), area.y);
        put(buffer, at, &text, area.width.saturating_sub(2), theme.style(flash.tone), theme);
        return;
    }
    for key in keys(area, place, world) {
        let right = key.area.right();
        let style = theme.style(Tone::Key);
        let at = (key.area.x, key.area.y);
        let x = put(buffer, at, key.binding.shown, key.area.width, style, theme);
        let left = right.saturating_sub(x + 1);
        put(buffer, (x + 1, key.area.y), key.binding.label, left, theme.style(Tone::Dim), theme);
    }
}

/// Returns the key whose name is at a cell.
pub(crate) fn key_at(
    area: Rect,
    position: Position,
    world: &World,
    place: Place,
) -> Option<&'static Binding> {
    if !area.contains(position) {
        return None;
    }
    keys(area, place, world)
        .into_iter()
        .find(|key| key.area.contains(position))
        .map(|key| key.binding)
}

/// A key with its name, and where it stands.
struct Key {
    binding: &'static Binding,
    area: Rect,
}

/// Returns the keys that fit as a whole, the most important from the left. Help stands at the right end, so that it is
/// never what had no room. What a fleet that is only looked at cannot be asked for is not among them.
fn keys(area: Rect, place: Place, world: &World) -> Vec<Key> {
    if area.is_empty() {
        return Vec::new();
    }
    let (help, others): (Vec<&Binding>, Vec<&Binding>) = keymap::footer(place)
        .into_iter()
        .filter(|binding| !(world.is_read_only && asks_the_fleet(binding.action)))
        .filter(|binding| world.is_read_only || !is_about_the_past(binding.action))
        .partition(|binding| binding.action == Action::Help && place != Place::Help);
    let mut right = area.right().saturating_sub(1);
    let mut keys = Vec::new();
    if let Some(binding) = help.first() {
        let wide = width(binding);
        // On a terminal with room for one key only, that is the most important one.
        let first = others.first().map_or(0, |binding| width(binding));
        if u32::from(wide) + u32::from(first) + 4 <= u32::from(area.width) {
            let x = right - wide;
            keys.push(Key { binding, area: Rect::new(x, area.y, wide, 1) });
            right = x.saturating_sub(BETWEEN);
        }
    }
    let mut x = area.x.saturating_add(1);
    for binding in others {
        let wide = width(binding);
        if x.saturating_add(wide) <= right {
            keys.push(Key { binding, area: Rect::new(x, area.y, wide, 1) });
            x = x.saturating_add(wide).saturating_add(BETWEEN);
        }
    }
    keys
}

/// Says whether an action is one that only a fleet with a host does.
fn asks_the_fleet(action: Action) -> bool {
    matches!(
        action,
        Action::Cap
            | Action::Options
            | Action::Dispatch
            | Action::NewLine
            | Action::ToEditor
            | Action::Stop
            | Action::StopMany
            | Action::Hold
            | Action::Retry
            | Action::Message
            | Action::EditQueued
            | Action::MoveDown
            | Action::MoveUp
    )
}

/// Says whether an action is one that somebody wants of a fleet that has ended.
fn is_about_the_past(action: Action) -> bool {
    matches!(action, Action::RunAgain | Action::Play)
}

fn width(binding: &Binding) -> u16 {
    let wide = cells(binding.shown) + 1 + cells(binding.label);
    u16::try_from(wide).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Moment;
    use crate::core::testing::snapshot;
    use crate::tui::layout::Focus;
    use crate::tui::testing::{pane, world};

    fn footer(columns: u16, place: Place, flash: Option<&Flash>) -> String {
        let world = world(snapshot(1, Vec::new()), columns, 24, Focus::Agents);
        pane(columns, 1, |area, buffer| draw(area, buffer, &world, place, flash))
    }

    #[test]
    fn keys_are_shown_whole_the_most_important_first_and_help_always() {
        let wide = footer(120, Place::Agents, None);
        assert!(wide.starts_with(" i new task  Enter output  x stop"), "{wide}");
        for columns in [40, 60, 80, 120] {
            let line = footer(columns, Place::Agents, None);
            assert!(line.ends_with("F1 help"), "{line}");
            assert!(cells(&line) <= usize::from(columns), "{line}");
        }
        assert_eq!(footer(24, Place::Agents, None), " i new task     F1 help");
    }

    #[test]
    fn a_fleet_that_is_only_looked_at_is_offered_no_key_that_it_would_refuse() {
        let mut world = world(snapshot(1, Vec::new()), 200, 24, Focus::Agents);
        world.is_read_only = true;
        for place in [Place::Editor, Place::Agents, Place::Tail] {
            let line = pane(200, 1, |area, buffer| draw(area, buffer, &world, place, None));
            for key in ["new task", "new line", "stop", "retry", "cap", "dispatch", "hold"] {
                assert!(!line.contains(key), "{key}: {line}");
            }
            assert!(line.ends_with("F1 help"), "{line}");
        }
    }

    #[test]
    fn a_click_on_a_name_finds_its_key_and_one_between_names_finds_none() {
        let world = world(snapshot(1, Vec::new()), 80, 24, Focus::Agents);
        let area = Rect::new(0, 23, 80, 1);
        let line = footer(80, Place::Agents, None);
        for (column, _) in line.char_indices() {
            let column = u16::try_from(column).unwrap();
            let found = key_at(area, Position::new(column, 23), &world, Place::Agents);
            if let Some(binding) = found {
                let name = format!("{} {}", binding.shown, binding.label);
                let at = line.find(&name).unwrap_or_else(|| panic!("{name:?} in {line:?}"));
                assert!((at..at + name.len()).contains(&usize::from(column)), "{name} {column}");
            }
        }
        let stop = u16::try_from(line.find("x stop").unwrap()).unwrap();
        let found = key_at(area, Position::new(stop, 23), &world, Place::Agents).unwrap();
        assert_eq!(found.action, Action::Stop);
        assert!(key_at(area, Position::new(0, 23), &world, Place::Agents).is_none());
        assert!(key_at(area, Position::new(stop, 22), &world, Place::Agents).is_none());
    }

    #[test]
    fn a_remark_takes_the_place_of_the_keys_and_stays_on_one_line() {
        let flash = Flash::new("bad\u{1b}[2J\nname".to_owned(), Tone::Bad, Moment(0));
        assert_eq!(footer(40, Place::Agents, Some(&flash)), " bad name");
    }

    #[test]
    fn it_draws_at_any_size() {
        for columns in 0..60 {
            for place in Place::ALL {
                let _ = footer(columns, place, None);
            }
        }
    }
}
