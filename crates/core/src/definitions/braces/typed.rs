//! Functions of languages that write the type before the name: C, C++, C#, Java, Dart.

use super::{Begun, Walker};

impl Walker<'_> {
    /// Takes `Type name(…) { … }`, or `;` instead of the body.
    pub(super) fn typed(&mut self, _begun: Begun) -> Option<usize> {
        None
    }
}
