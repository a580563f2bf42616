//! The door to the outside: clock, randomness, file systems.
#![forbid(unsafe_code)]
