//! Text for people that more than one door needs: spans of time, cut and cleaned text, glyphs, lines about agents and
//! batches.
//!
//! What may go here: functions from values and snapshots to text, without escape sequences but those of `style`. What
//! may not: reading files, clocks, the terminal; what only one door says.

pub mod agent_numbers;
pub mod changed_files;
pub mod doubt;
pub mod notice_line;
pub mod plain_text;
pub mod report_line;
pub mod results;
pub mod results_block;
pub mod status_line;
pub mod stream;
pub mod style;
pub mod time_text;
pub mod why;
