//! Patterns over paths: the globs of searches, the rules of ignore files, and the rules of a policy,
//! which say what is denied, protected or secret.

pub mod glob;
pub mod ignore;
pub mod policy;
