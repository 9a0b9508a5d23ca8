//! Searches below a directory: contents ([`grep`]) and names ([`find`]).

mod file_matches;
pub mod find;
pub mod grep;
pub mod mtimes;
mod options;
pub mod progress;
mod results;
pub mod searcher;
pub mod shared_walk;
