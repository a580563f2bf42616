//! The allocator, and what it takes for a block.

use martite_hfile::Block;

/// Blocks of the cache lie on huge pages (see .cargo/config.toml): a read goes to a random place in gigabytes. What is free
/// goes back to the system on a thread of its own, not on the one that happens to ask for memory.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const PAGE: usize = 4096;
/// Allocations from here on are whole pages and one more: they begin at any line of the first.
const LARGE: usize = 16 << 10;

/// What a block takes of the machine's memory.
pub fn weigh(block: &Block) -> usize {
    taken(block.heap_size())
}

/// What the allocator takes for so many bytes: there are four sizes from each power of two to the next.
fn taken(bytes: usize) -> usize {
    let power = bytes.max(64).next_power_of_two();
    let size = bytes.next_multiple_of(power / 8);
    if size < LARGE { size } else { size + PAGE }
}

#[cfg(test)]
mod tests {
    use super::taken;

    #[test]
    fn sizes_are_the_allocators() {
        for (bytes, want) in [
            (0, 0),
            (1, 8),
            (64, 64),
            (65, 80),
            (4096, 4096),
            (4097, 5120),
            (65_536, 65_536 + 4096),
            (66_300, 81_920 + 4096),
            (81_921, 98_304 + 4096),
            (1 << 20, (1 << 20) + 4096),
        ] {
            assert_eq!(taken(bytes), want, "{bytes}");
        }
    }
}
