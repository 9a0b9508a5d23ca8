//! Searches below a directory: contents ([`grep`]) and names ([`find`]).

pub mod find;
pub mod grep;
pub mod mtimes;
pub mod progress;
mod results;
pub mod searcher;
pub mod shared_walk;
