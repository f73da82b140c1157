//! Why gemini ended, where its output does not say so.
//!
//! What may go here: what its exit code and its standard error mean. What may not: its output.

use crate::adapters::causes;
use crate::adapters::event_stream::error_line;
use crate::core::ExitReason;

/// Returns why it ended with an exit code where its output does not say so. For an error of its service that is the
/// status, of which a code keeps only the lower eight bits.
pub(super) fn by_code(code: i32) -> Option<ExitReason> {
    match code {
        41 => Some(ExitReason::Auth),
        53 => Some(ExitReason::MaxSteps),
        55 => Some(ExitReason::Permission),
        144..=255 => causes::by_status(u64::try_from(code).ok()? + 256),
        _ => None,
    }
}

/// Returns the line of its standard error that says what is wrong, without the warnings that always are there.
pub(super) fn last_words(err: &[u8]) -> String {
    const NOISE: [&[u8]; 5] =
        [b"Warning:", b"YOLO mode", b"Approval mode", b"Ripgrep is not", b"[STARTUP]"];
    let lines = err.split(|byte| *byte == b'\n');
    let told = lines.filter(|line| !NOISE.iter().any(|noise| line.starts_with(noise)));
    let told: Vec<&[u8]> = told.collect();
    error_line(&told.join(&b'\n'))
}
