//! One end of a connection.
//!
//! What may go here: reading and writing bytes without waking anybody in vain. What may not: lines, what is said.
//!
//! Whoever waits for room to write is told by the system each time the other side has read, wanted or not. So only
//! reading is waited for through the connection itself, and room only while there is none: a host that says a little
//! every second is not woken a second time for it.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream as StdStream;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::UnixStream;

/// A connected socket.
#[derive(Debug)]
pub(super) struct Socket {
    stream: AsyncFd<StdStream>,
}

impl Socket {
    /// Takes over a connection. Must be called inside a loop.
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        // It does not block: tokio has made it so.
        Ok(Self { stream: register(stream.into_std()?, Interest::READABLE)? })
    }

    /// Waits for bytes; returns how many have come, zero if the other side has closed.
    pub(super) async fn read_some(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.stream.readable().await?;
            match ready.try_io(|stream| stream.get_ref().read(buffer)) {
                Ok(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                Ok(read) => return read,
                Err(_nothing_yet) => {}
            }
        }
    }

    /// Writes some of the bytes, and waits if there is no room for any; returns how many were taken.
    pub(super) async fn write_some(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            // Somebody who always has room must not keep others from their turn.
            tokio::task::consume_budget().await;
            match self.stream.get_ref().write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.room().await?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                written => return written,
            }
        }
    }

    /// Waits until there is room, through a second descriptor, since the first one is registered for reading only.
    async fn room(&self) -> io::Result<()> {
        let twin = register(self.stream.get_ref().try_clone()?, Interest::WRITABLE)?;
        twin.writable().await?.retain_ready();
        Ok(())
    }
}

#[expect(
    deprecated,
    reason = "its successor is unsafe; what is registered is owned, so it stays open and the same"
)]
fn register(stream: StdStream, interest: Interest) -> io::Result<AsyncFd<StdStream>> {
    AsyncFd::with_interest(stream, interest)
}

#[cfg(test)]
mod tests {
    use super::{Socket, UnixStream};

    #[tokio::test]
    async fn what_there_is_no_room_for_is_written_when_the_other_side_has_read() {
        let (one, other) = UnixStream::pair().unwrap();
        let (one, other) = (Socket::new(one).unwrap(), Socket::new(other).unwrap());
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(4 << 20).collect();
        let (writes, reads) = tokio::join!(
            async {
                let mut rest = &bytes[..];
                while !rest.is_empty() {
                    rest = &rest[one.write_some(rest).await.unwrap()..];
                }
                drop(one);
                rest.len()
            },
            async {
                let (mut read, mut piece) = (Vec::new(), vec![0; 10_000]);
                loop {
                    match other.read_some(&mut piece).await.unwrap() {
                        0 => return read,
                        count => read.extend_from_slice(&piece[..count]),
                    }
                }
            }
        );
        assert_eq!(writes, 0);
        assert!(reads == bytes, "{} bytes came", reads.len());
    }
}
