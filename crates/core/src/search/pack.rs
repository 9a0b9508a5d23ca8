//! A hit as it crosses to JavaScript.

use super::{Hit, Line};
use crate::pack::Packed;

/// Appends a hit: `line end_line column cut text`, and with `context` the
/// numbers of lines before and after, each followed by the lines.
pub fn pack_hit(packed: &mut Packed, hit: &Hit<'_>, context: bool) {
    packed.num(hit.line);
    packed.num(hit.end_line);
    packed.num(hit.column);
    packed.flag(hit.text.cut);
    packed.str(&hit.text.text);
    if context {
        pack_lines(packed, hit.before);
        pack_lines(packed, hit.after);
    }
}

fn pack_lines(packed: &mut Packed, lines: &[Line<'_>]) {
    packed.num(lines.len() as u64);
    for line in lines {
        packed.str(&line.text);
    }
}
