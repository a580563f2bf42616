//! ClientService: one module per method.

mod get;
mod multi;
mod mutate;
mod scan;
mod service;
