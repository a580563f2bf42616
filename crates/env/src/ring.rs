//! [`Ring`]: receives from, or sends into, many sockets with one system call (Linux's io_uring).
//!
//! ```text
//! receive: [socket, buffer] [socket, buffer] … ─▶ one call ─▶ [bytes or error] [bytes or error] …
//! ```
//! Nothing outlives the call: a socket that has nothing to give, or takes nothing, answers `WouldBlock` at once. So a caller
//! without a ring (another system, an older kernel, a container that forbids it) does the same with a call for each socket.
#![allow(unsafe_code, reason = "the kernel reads and writes buffers by address")]

use std::io;
use std::os::fd::BorrowedFd;

/// Operations of one system call; more take another.
pub const RING_ENTRIES: usize = 64;

/// To be used by one thread at a time.
pub struct Ring(imp::Ring);

impl Ring {
    /// An error where the system has no io_uring or forbids it.
    pub fn new() -> io::Result<Ring> {
        imp::Ring::new().map(Ring)
    }

    /// Receives once from each socket; what it brought is appended to `outcomes`, in order.
    pub fn receive<'a>(
        &mut self,
        sockets: impl Iterator<Item = (BorrowedFd<'a>, &'a mut [u8])>,
        outcomes: &mut Vec<io::Result<usize>>,
    ) {
        self.0.run(sockets.map(|(socket, buffer)| imp::receive(socket, buffer)), outcomes);
    }

    /// Sends once into each socket; how many bytes it took is appended to `outcomes`, in order.
    pub fn send<'a>(
        &mut self,
        sockets: impl Iterator<Item = (BorrowedFd<'a>, &'a [u8])>,
        outcomes: &mut Vec<io::Result<usize>>,
    ) {
        self.0.run(sockets.map(|(socket, bytes)| imp::send(socket, bytes)), outcomes);
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use std::io;
    use std::marker::PhantomData;
    use std::os::fd::{AsRawFd, BorrowedFd};

    use io_uring::squeue::Entry;
    use io_uring::{IoUring, opcode, types};

    use super::RING_ENTRIES;

    pub struct Ring {
        ring: IoUring,
        /// By operation of the call under way.
        done: [i32; RING_ENTRIES],
    }

    /// An operation, and how long its socket and its buffer live.
    pub struct Operation<'a>(Entry, PhantomData<&'a mut [u8]>);

    pub fn receive<'a>(socket: BorrowedFd<'a>, buffer: &'a mut [u8]) -> Operation<'a> {
        let entry = opcode::Recv::new(types::Fd(socket.as_raw_fd()), buffer.as_mut_ptr(), length(buffer.len()));
        Operation(entry.flags(libc::MSG_DONTWAIT).build(), PhantomData)
    }

    pub fn send<'a>(socket: BorrowedFd<'a>, bytes: &'a [u8]) -> Operation<'a> {
        let entry = opcode::Send::new(types::Fd(socket.as_raw_fd()), bytes.as_ptr(), length(bytes.len()));
        Operation(entry.flags(libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL).build(), PhantomData)
    }

    /// The kernel's limit of one operation is below this, too.
    fn length(bytes: usize) -> u32 {
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }

    /// While buffers are lent to the kernel there is no way out but to end the process.
    struct Lent;

    impl Drop for Lent {
        fn drop(&mut self) {
            std::process::abort();
        }
    }

    impl Ring {
        pub fn new() -> io::Result<Ring> {
            let ring = IoUring::builder().dontfork().build(RING_ENTRIES as u32)?;
            let mut probe = io_uring::Probe::new();
            ring.submitter().register_probe(&mut probe)?;
            if !probe.is_supported(opcode::Recv::CODE) || !probe.is_supported(opcode::Send::CODE) {
                return Err(io::ErrorKind::Unsupported.into());
            }
            Ok(Ring { ring, done: [0; RING_ENTRIES] })
        }

        pub fn run<'a>(
            &mut self,
            mut operations: impl Iterator<Item = Operation<'a>>,
            outcomes: &mut Vec<io::Result<usize>>,
        ) {
            loop {
                let mut count = 0;
                let mut queue = self.ring.submission();
                let lent = Lent;
                for operation in operations.by_ref().take(RING_ENTRIES) {
                    let entry = operation.0.user_data(count as u64);
                    // SAFETY: socket and buffer live for `'a`, which is longer than this function runs, and it does not end
                    // before the kernel is done with them (`wait_for`, or the process ends).
                    if unsafe { queue.push(&entry) }.is_err() {
                        unreachable!("a ring has as many entries as operations are taken");
                    }
                    count += 1;
                }
                drop(queue);
                if count > 0 {
                    self.wait_for(count);
                }
                std::mem::forget(lent);
                outcomes.extend(self.done[..count].iter().map(|done| outcome(*done)));
                if count < RING_ENTRIES {
                    return;
                }
            }
        }

        /// Submits what is queued, and comes back when all of it is done.
        fn wait_for(&mut self, count: usize) {
            let mut reaped = 0;
            while reaped < count {
                match self.ring.submit_and_wait(count - reaped) {
                    Ok(_) => {}
                    Err(e) if matches!(e.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)) => {}
                    // A ring that worked before: what it would have to say about its buffers is not known any more.
                    Err(e) => panic!("io_uring_enter: {e}"),
                }
                for entry in self.ring.completion() {
                    self.done[entry.user_data() as usize] = entry.result();
                    reaped += 1;
                }
            }
        }
    }

    fn outcome(done: i32) -> io::Result<usize> {
        usize::try_from(done).map_err(|_| io::Error::from_raw_os_error(-done))
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use std::io;
    use std::os::fd::BorrowedFd;

    pub enum Ring {}

    pub enum Operation {}

    pub fn receive(_: BorrowedFd<'_>, _: &mut [u8]) -> Operation {
        unreachable!("there is no ring to use it with")
    }

    pub fn send(_: BorrowedFd<'_>, _: &[u8]) -> Operation {
        unreachable!("there is no ring to use it with")
    }

    impl Ring {
        pub fn new() -> io::Result<Ring> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub fn run(&mut self, _: impl Iterator<Item = Operation>, _: &mut Vec<io::Result<usize>>) {
            match *self {}
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// None where the system forbids it.
    fn ring() -> Option<Ring> {
        Ring::new().map_err(|e| eprintln!("no io_uring here, nothing is tested: {e}")).ok()
    }

    fn pairs(count: usize) -> (Vec<UnixStream>, Vec<UnixStream>) {
        (0..count).map(|_| UnixStream::pair().unwrap()).unzip()
    }

    fn plain(outcomes: Vec<io::Result<usize>>) -> Vec<Result<usize, ErrorKind>> {
        outcomes.into_iter().map(|o| o.map_err(|e| e.kind())).collect()
    }

    #[test]
    fn each_socket_gives_what_it_has() {
        let Some(mut ring) = ring() else { return };
        // More than go at once; they block otherwise.
        let (ours, mut theirs) = pairs(RING_ENTRIES + 3);
        for (i, socket) in theirs.iter_mut().enumerate().filter(|(i, _)| i.is_multiple_of(2)) {
            socket.write_all(&vec![i as u8; 1 + i % 5]).unwrap();
        }
        theirs.truncate(RING_ENTRIES + 2);
        let mut buffers = vec![[0; 4]; ours.len()];
        let mut outcomes = Vec::new();
        ring.receive(ours.iter().map(AsFd::as_fd).zip(buffers.iter_mut().map(|b| &mut b[..])), &mut outcomes);
        let had = |i: usize| if i.is_multiple_of(2) { Ok((1 + i % 5).min(4)) } else { Err(ErrorKind::WouldBlock) };
        assert_eq!(plain(outcomes), (0..ours.len()).map(had).collect::<Vec<_>>());
        assert!((0..ours.len()).step_by(2).all(|i| buffers[i][..(1 + i % 5).min(4)].iter().all(|b| *b == i as u8)));
        // The end of a stream.
        let mut outcomes = Vec::new();
        let last = ours.last().unwrap();
        for _ in 0..2 {
            ring.receive([(last.as_fd(), &mut buffers[0][..])].into_iter(), &mut outcomes);
        }
        assert_eq!(plain(outcomes).last(), Some(&Ok(0)));
    }

    #[test]
    fn each_socket_takes_what_it_can() {
        let Some(mut ring) = ring() else { return };
        let (ours, mut theirs) = pairs(3);
        drop(theirs.pop());
        let large = vec![7; 64 << 20];
        let mut outcomes = Vec::new();
        let bytes = [b"hello", &large[..], b"gone"];
        ring.send(ours.iter().map(AsFd::as_fd).zip(bytes), &mut outcomes);
        let outcomes = plain(outcomes);
        let Ok(taken) = outcomes[1] else { panic!("{outcomes:?}") };
        assert!((1..large.len()).contains(&taken));
        assert_eq!((&outcomes[0], &outcomes[2]), (&Ok(5), &Err(ErrorKind::BrokenPipe)));
        let mut hello = [0; 5];
        theirs[0].read_exact(&mut hello).unwrap();
        assert_eq!(&hello, b"hello");
        let mut outcomes = Vec::new();
        ring.send([(ours[1].as_fd(), &large[..])].into_iter(), &mut outcomes);
        assert_eq!(plain(outcomes), [Err(ErrorKind::WouldBlock)]);
        let mut none = Vec::new();
        ring.send(std::iter::empty(), &mut none);
        assert!(none.is_empty());
    }
}
