//! Receiving into room that nobody has to fill with zeros first.
#![allow(unsafe_code, reason = "the kernel writes into room that is not initialised")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use bytes::BytesMut;

/// Receives once, without waiting, into the spare room of `buffer`, at most so many bytes, and tells how many came. No room reads
/// as the end of the stream: 0.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut BytesMut, most: usize) -> io::Result<usize> {
    let room = buffer.spare_capacity_mut();
    let most = most.min(room.len());
    let room = &mut room[..most];
    // SAFETY: the kernel writes no more bytes than `room` has, which is borrowed until the call returns.
    let received = unsafe { libc::recv(socket.as_raw_fd(), room.as_mut_ptr().cast(), room.len(), libc::MSG_DONTWAIT) };
    let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: so many bytes were written behind the old length, within the capacity.
    unsafe { buffer.set_len(buffer.len() + received) };
    Ok(received)
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn bytes_are_appended_as_far_as_there_is_room() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut buffer = BytesMut::with_capacity(64);
        buffer.extend_from_slice(b"kept ");
        assert_eq!(receive(ours.as_fd(), &mut buffer, usize::MAX).unwrap_err().kind(), ErrorKind::WouldBlock);
        theirs.write_all(&[b'x'; 100]).unwrap();
        let room = buffer.capacity() - buffer.len();
        assert_eq!(receive(ours.as_fd(), &mut buffer, usize::MAX).unwrap(), room);
        assert_eq!((&buffer[..7], buffer.len()), (&b"kept xx"[..], room + 5));
        assert_eq!(receive(ours.as_fd(), &mut buffer, usize::MAX).unwrap(), 0);
        buffer.clear();
        drop(theirs);
        assert_eq!(receive(ours.as_fd(), &mut buffer, 5).unwrap(), 5);
        assert_eq!(receive(ours.as_fd(), &mut buffer, usize::MAX).unwrap(), 95 - room);
        assert_eq!(receive(ours.as_fd(), &mut buffer, usize::MAX).unwrap(), 0);
    }
}
