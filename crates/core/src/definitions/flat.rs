//! Texts whose lines say everything.
