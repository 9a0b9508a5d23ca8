//! Encodes hits for JavaScript.

use std::ops::ControlFlow;

use super::{Hit, Line, OutputMode, Query, SearchLimits};
use crate::error::{Code, Error, Result};
use crate::options::Options;
use crate::pack::Packed;

/// Searches one text for a binding. `options` is the JSON form of [`SearchLimits`], with
/// `skipLines`, `pathBytes` for the length of the path at the start of each row, and `count` for
/// [`OutputMode::Count`].
///
/// The result is `binary`, `more`, the number of hits, whether hits have context, and the hits as
/// written by [`pack_hit`]: fewer than their number if `maxTextBytes` was reached.
///
/// # Errors
/// `INVALID_ARGUMENT` naming the option, `CANCELLED` for an interrupt.
pub fn search_packed(
    query: &Query,
    content: &[u8],
    options: &str,
    interrupted: &dyn Fn() -> bool,
) -> Result<Packed> {
    let options = Options::parse(options)?;
    let mut limits = SearchLimits::read(&options)?;
    limits.skip_lines = options.number("skipLines")?.unwrap_or(0);
    limits.row_bytes += options.number("pathBytes")?.unwrap_or(0);
    if options.flag("count", false)? {
        limits.want = OutputMode::Count;
    }
    let context = limits.has_context();
    let mut hits = Packed::new();
    let outcome = query.search(content, &limits, interrupted, &mut |hit| {
        pack_hit(&mut hits, hit, context);
        ControlFlow::Continue(())
    });
    if outcome.stopped {
        return Err(Error::new(Code::Cancelled, "the call was cancelled"));
    }
    let mut packed = Packed::new();
    packed.flag(outcome.binary);
    packed.flag(outcome.more);
    packed.num(outcome.hits);
    packed.flag(context);
    packed.nums.extend_from_slice(&hits.nums);
    packed.text = hits.text;
    Ok(packed)
}

/// Appends a hit: `line end_line column cut text`, the text of each line after `line` up to
/// `end_line`, and with `context` the numbers of lines before and after, each followed by the
/// lines; for a query of several patterns the number of matching patterns, and their indexes.
pub fn pack_hit(packed: &mut Packed, hit: &Hit<'_>, context: bool) {
    packed.num(hit.line);
    packed.num(hit.end_line);
    packed.num(hit.column);
    packed.flag(hit.text.cut);
    packed.str(&hit.text.text);
    hit.rest.iter().for_each(|line| packed.str(&line.text));
    if context {
        pack_lines(packed, hit.before);
        pack_lines(packed, hit.after);
    }
    // Only a query of several patterns fills the list. A hit of such a query matches at least one,
    // so an empty list means that no count is written.
    if !hit.patterns.is_empty() {
        packed.num(hit.patterns.len() as u64);
        hit.patterns.iter().for_each(|pattern| packed.num(u64::from(*pattern)));
    }
}

/// Appends the number of lines and the text of each.
fn pack_lines(packed: &mut Packed, lines: &[Line<'_>]) {
    packed.num(lines.len() as u64);
    for line in lines {
        packed.str(&line.text);
    }
}

#[cfg(test)]
mod tests;
