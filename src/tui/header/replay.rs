//! Which moment of a run the header is about.

use crate::tui::cells::Part;
use crate::tui::theme::Tone;
use crate::tui::world::World;
use crate::words::time_text::{self, duration};

/// Says which moment is shown, if it is not that of now: `replay 1m 5s of 10m at 12:00:04, 10x`.
pub(super) fn part(world: &World, width: usize) -> Option<Part> {
    let replay = world.replay?;
    let spans = [replay.at, replay.to].map(|moment| duration(moment.since(replay.from)));
    let mut text = format!("replay {} of {}", spans[0], spans[1]);
    if width >= usize::from(super::WORDY) {
        let time = time_text::local(replay.at, &world.zone);
        let time = time.split_once(' ').map_or(time.as_str(), |(_, time)| time).to_owned();
        text = format!("{text} at {time}");
    }
    let pace = if replay.plays { format!("{}x", replay.speed) } else { "paused".to_owned() };
    Some(Part::new(0, Tone::Hit, format!("{text}, {pace}")))
}
