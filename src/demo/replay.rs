//! `fleet replay NAME`: the process that stands for a recorded agent. It prints what was recorded, when it was.
//!
//! What may go here: what runs in that process. What may not: a runtime, threads, handlers of signals: it is stopped
//! as any simple program is.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use rustix::event::{Timespec, poll};
use rustix::io::Errno;
use rustix::process::{getpid, kill_process};

use super::recording::{Recording, What};

/// First argument of such a process.
pub(super) const REPLAY_WORD: &str = "replay";
/// Option that plays faster or slower.
pub(super) const SPEED_WORD: &str = "--speed";

/// Exit code for arguments that name no recording, as everywhere in the program.
const USAGE: u8 = 2;

/// Plays a recording if this process was started for that; `None` otherwise. Comes early in `main`, before arguments
/// are parsed for people.
pub fn replay_main() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != REPLAY_WORD {
        return None;
    }
    Some(match Wanted::read(args) {
        Ok(wanted) => play(&wanted).unwrap_or_else(|error| {
            // There is nobody else to tell.
            let _ = writeln!(io::stderr(), "fleet: could not play the recording: {error}");
            ExitCode::FAILURE
        }),
        Err(problem) => {
            let _ = writeln!(io::stderr(), "fleet: {problem}");
            ExitCode::from(USAGE)
        }
    })
}

/// What is to be played, and how fast.
#[derive(Debug, PartialEq)]
struct Wanted {
    recording: Recording,
    speed: f64,
}

impl Wanted {
    fn read(mut args: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let name = args.next().unwrap_or_default();
        let recording = name.to_str().and_then(Recording::find).ok_or_else(|| {
            let names: Vec<&str> = Recording::ALL.iter().map(|recording| recording.name).collect();
            format!("there is no such recording (there are {})", names.join(", "))
        })?;
        let speed = match (args.next(), args.next()) {
            (None, _) => 1.0,
            (Some(word), Some(number)) if word == SPEED_WORD => {
                let speed = number.to_str().and_then(|number| number.parse().ok());
                // Ten thousand times as fast is as good as at once.
                speed
                    .filter(|speed| (0.01..=10_000.0).contains(speed))
                    .ok_or("--speed takes a number from 0.01 to 10000")?
            }
            (Some(_), _) => return Err("after the name comes only --speed X".to_owned()),
        };
        Ok(Self { recording, speed })
    }
}

fn play(wanted: &Wanted) -> io::Result<ExitCode> {
    let (mut out, mut err) = (io::stdout().lock(), io::stderr().lock());
    for entry in wanted.recording.entries().map_err(io::Error::other)? {
        wait(entry.after.div_f64(wanted.speed))?;
        match entry.what {
            What::Out(text) => {
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
            What::Err(text) => err.write_all(text.as_bytes())?,
            What::Exit(code) => return Ok(ExitCode::from(code)),
            What::Killed(signal) => kill_process(getpid(), signal)?,
        }
    }
    Err(io::Error::other("it did not end"))
}

/// Waits without an event to wait for. A wait that the process was stopped in (`SIGSTOP`) begins anew.
fn wait(time: Duration) -> io::Result<()> {
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    loop {
        match poll(&mut [], Some(&time)) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Wanted, String> {
        Wanted::read(words.iter().map(OsString::from))
    }

    #[test]
    fn a_name_and_a_speed_are_taken_and_anything_else_is_refused_with_what_there_is() {
        let recording = Recording::find("upgrade").unwrap();
        assert_eq!(read(&["upgrade"]), Ok(Wanted { recording, speed: 1.0 }));
        assert_eq!(read(&["upgrade", "--speed", "2.5"]), Ok(Wanted { recording, speed: 2.5 }));
        assert!(read(&[]).unwrap_err().contains("changelog, flaky-test"));
        assert!(read(&["nosuch"]).unwrap_err().contains("changelog, flaky-test"));
        for speed in ["0", "-1", "NaN", "inf", "fast", "1e9"] {
            assert!(read(&["upgrade", "--speed", speed]).unwrap_err().contains("--speed"));
        }
        assert!(read(&["upgrade", "--speed"]).is_err());
        assert!(read(&["upgrade", "--loud", "1"]).is_err());
    }
}
