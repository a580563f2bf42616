//! Hosts regions; one module per RPC method.
#![forbid(unsafe_code)]
