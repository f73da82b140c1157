//! Lines as both sides understand them, without a socket: for whoever tries the protocol with lines that nobody sends.
//!
//! What may go here: that. What may not: anything that a host or a client needs.

use super::packing::unpack;
use super::protocol::{ClientLine, Greeting, Hello, ServerLine};
use super::rebuild::Rebuild;

/// Returns how many of the lines a host or a client would understand that came upon them in this order.
#[doc(hidden)]
pub fn understand(lines: &[u8]) -> usize {
    let mut rebuild = Rebuild::default();
    let lines = lines.split(|byte| *byte == b'\n');
    lines.filter(|line| is_greeting(line) || is_asked(line) || is_told(line, &mut rebuild)).count()
}

fn is_greeting(line: &[u8]) -> bool {
    let hello = serde_json::from_slice::<Hello>(line).is_ok_and(|hello| hello.gap().is_none());
    hello || serde_json::from_slice::<Greeting>(line).is_ok_and(|greeting| greeting.gap().is_none())
}

fn is_asked(line: &[u8]) -> bool {
    let line = serde_json::from_slice::<ClientLine>(line).ok().and_then(|line| line.ask);
    line.is_some_and(|ask| unpack(ask).is_ok())
}

fn is_told(line: &[u8], rebuild: &mut Rebuild) -> bool {
    let line = serde_json::from_slice::<ServerLine>(line).ok();
    let change = line.and_then(|line| line.change);
    change.is_some_and(|change| rebuild.take(change).is_ok())
}
