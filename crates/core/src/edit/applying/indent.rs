//! Maps the indentation in an edit to that of the file.
//!
//! A model sends four spaces where the file has a tab, or a block without the indentation that all
//! its lines have in the file. Lines that occur on both sides show how each indentation of the edit
//! translates; other depths are extrapolated in the file's own unit.

use crate::edit::lines::{indentation_of, trim};

/// How the indentation of an edit translates to that of the file: pairs of an indentation as sent
/// and the same line's indentation in the file.
#[derive(Clone, Debug, Default)]
pub(in crate::edit) struct IndentMap {
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
    /// The styles that are used instead of the pairs if no line that occurs on both sides is
    /// indented: the columns per level as sent, and the file's indentation per level.
    style: Option<(usize, Vec<u8>)>,
    /// The greatest common divisor of the indentations of the new text, in columns; 0 if no line is
    /// indented.
    step_columns: usize,
    /// The greatest common divisor of the indentations beyond that of the shallowest line of the
    /// new text, in columns; 0 if all lines have the same.
    relative_step_columns: usize,
}

impl IndentMap {
    /// Records that the line `sent` of the edit is the line `file` of the file. The first record
    /// for an indentation wins; blank lines are ignored.
    pub(in crate::edit) fn learn_pair(&mut self, sent: &[u8], file: &[u8]) {
        if trim(sent).is_empty() || trim(file).is_empty() {
            return;
        }
        let (sent, file) = (indentation_of(sent), indentation_of(file));
        if !self.pairs.iter().any(|(known, _)| known == sent) {
            self.pairs.push((sent.to_vec(), file.to_vec()));
        }
    }

    /// Adds the pairs of another map unless one of them contradicts a pair of this one.
    pub(in crate::edit) fn add_missing_pairs(&mut self, other: &IndentMap) {
        let agrees = |(sent, file): &(Vec<u8>, Vec<u8>)| {
            other.get(sent).is_none_or(|known| known == file.as_slice())
        };
        if self.pairs.iter().all(agrees) {
            for (sent, file) in &other.pairs {
                if self.get(sent).is_none() {
                    self.pairs.push((sent.clone(), file.clone()));
                }
            }
        }
    }

    /// Measures the steps of the new text's indentation. If no known line is indented, also
    /// compares the file's indentation style, tabs or spaces, with that of the new text.
    pub(in crate::edit) fn learn_style(&mut self, text: &[u8], new: &[&[u8]]) {
        let lines = new.iter().filter(|line| !trim(line).is_empty());
        let widths: Vec<usize> = lines.map(|line| indent_width(indentation_of(line))).collect();
        let least = widths.iter().copied().min().unwrap_or(0);
        self.step_columns = widths.iter().copied().fold(0, greatest_common_divisor);
        self.relative_step_columns =
            widths.iter().map(|width| width - least).fold(0, greatest_common_divisor);
        if self.pairs.iter().any(|(sent, file)| !sent.is_empty() || !file.is_empty()) {
            return;
        }
        let sent: Vec<&[u8]> =
            new.iter().map(|line| indentation_of(line)).filter(|i| !i.is_empty()).collect();
        let Some(first) = sent.first() else { return };
        let mark = first[0];
        if sent.iter().any(|indent| indent.iter().any(|&byte| byte != mark)) {
            return;
        }
        let (mut tabs, mut spaces) = (0, 0);
        let mut least = usize::MAX;
        for line in crate::text::lines(text) {
            match indentation_of(line.text) {
                [b'\t', ..] => tabs += 1,
                blanks @ [b' ', b' ', ..] => {
                    spaces += 1;
                    least = least.min(blanks.len());
                }
                _ => {}
            }
        }
        let unit = sent.iter().map(|indent| indent.len()).fold(0, greatest_common_divisor);
        if mark == b' ' && unit >= 2 && tabs > 20 * spaces {
            self.style = Some((unit, vec![b'\t']));
        } else if mark == b'\t' && spaces > 20 * tabs && least <= 8 {
            self.style = Some((1, vec![b' '; least]));
        }
    }

    /// Returns the file's indentation for one that a known line has.
    fn get(&self, sent: &[u8]) -> Option<&[u8]> {
        self.pairs.iter().find(|(known, _)| known == sent).map(|(_, file)| file.as_slice())
    }

    /// Returns a line of the new text with its indentation translated to that of the file.
    pub(in crate::edit) fn translate_line(&self, line: &[u8]) -> Vec<u8> {
        let sent = indentation_of(line);
        let body = &line[sent.len()..];
        if let Some((unit, file)) = &self.style {
            return [&file.repeat(sent.len() / unit), body].concat();
        }
        if self.pairs.iter().all(|(sent, file)| sent == file) {
            return line.to_vec();
        }
        if trim(body).is_empty() {
            let of_tabs = |(_, file): &(Vec<u8>, Vec<u8>)| file.contains(&b'\t');
            let translates = sent.len() > 1 && body.is_empty() && self.pairs.iter().any(of_tabs);
            if !translates {
                return line.to_vec();
            }
            let placed =
                self.get(sent).map_or_else(|| self.extrapolate_indent(sent), <[u8]>::to_vec);
            return [&placed, body].concat();
        }
        let mut placed = match self.get(sent) {
            Some(file) => file.to_vec(),
            None => self.extrapolate_indent(sent),
        };
        placed.extend_from_slice(body);
        placed
    }

    /// Translates an indentation that no known line has, from the nearest known one.
    fn extrapolate_indent(&self, sent: &[u8]) -> Vec<u8> {
        if let Some(placed) = self.with_own_tabs(sent) {
            return placed;
        }
        let depth = indent_width(sent);
        let Some((from, to)) = self
            .pairs
            .iter()
            .min_by_key(|(known, _)| (indent_width(known).abs_diff(depth), indent_width(known)))
        else {
            return sent.to_vec();
        };
        let tabs = self.pairs.iter().any(|(_, file)| file.contains(&b'\t'));
        let deeper = depth as f64 - indent_width(from) as f64;
        let steps = (deeper / self.sent_columns_per_file_unit(sent, tabs)).round() as i64;
        let unit = if tabs { b'\t' } else { b' ' };
        let mut placed = to.clone();
        if steps >= 0 {
            placed.extend(std::iter::repeat_n(unit, steps as usize));
        } else {
            placed.truncate(to.len().saturating_sub(steps.unsigned_abs() as usize));
        }
        placed
    }

    /// Translates spaces followed by tabs if another line shows how the spaces translate. The tabs
    /// are kept, because the file has them too; returns `None` if a known line of the file is
    /// indented with spaces.
    fn with_own_tabs(&self, sent: &[u8]) -> Option<Vec<u8>> {
        let shift = &sent[..sent.iter().position(|&byte| byte == b'\t')?];
        let tabs = sent.strip_prefix(self.get(shift).map(|_| shift)?)?;
        let in_spaces = self.pairs.iter().any(|(_, file)| file.contains(&b' '));
        let own = !shift.is_empty() && !in_spaces && tabs.iter().all(|&byte| byte == b'\t');
        own.then(|| [self.get(shift).unwrap_or_default(), tabs].concat())
    }

    /// Returns how many columns of indentation in the sent text correspond to one tab of the file
    /// (`tabs`) or to one column of it. A model may indent by another width than the file.
    fn sent_columns_per_file_unit(&self, sent: &[u8], tabs: bool) -> f64 {
        let size = |file: &[u8]| if tabs { file.len() } else { indent_width(file) };
        for (a, (sent_a, file_a)) in self.pairs.iter().enumerate() {
            for (sent_b, file_b) in &self.pairs[a + 1..] {
                let (deep, shallow, file_deep, file_shallow) =
                    if indent_width(sent_a) > indent_width(sent_b) {
                        (sent_a, sent_b, file_a, file_b)
                    } else {
                        (sent_b, sent_a, file_b, file_a)
                    };
                let columns = indent_width(deep) - indent_width(shallow);
                let units = size(file_deep).saturating_sub(size(file_shallow));
                if columns > 0 && units > 0 {
                    return columns as f64 / units as f64;
                }
            }
        }
        let all = || self.pairs.iter().map(|(known, _)| known.as_slice()).chain([sent]);
        if all().any(|known| known.contains(&b'\t')) {
            return if tabs {
                TAB_COLUMNS as f64
            } else {
                TAB_COLUMNS as f64 / self.file_step_spaces() as f64
            };
        }
        if !tabs {
            return 1.0;
        }
        if let Some(unit) = self.tab_columns_without_shift(sent) {
            return unit as f64;
        }
        let least = all().map(indent_width).min().unwrap_or(0);
        let fit = |base: usize| {
            [8, 4, 2]
                .into_iter()
                .find(|unit| all().all(|known| (indent_width(known) - base).is_multiple_of(*unit)))
        };
        // Even if the whole text is shifted by a few spaces, the steps between its depths show the
        // width of a tab.
        let unit = fit(0).or_else(|| fit(least)).unwrap_or(4);
        // Other lines of the new text may be indented in smaller steps.
        let step = Some(self.relative_step_columns).filter(|step| matches!(step, 2 | 4 | 8));
        step.map_or(unit, |step| step.min(unit)) as f64
    }

    /// Returns how many sent columns correspond to one tab if all known lines have the same
    /// indentation and it is a number of tabs of 2, 4 or 8 columns each. For a deeper line the
    /// other new lines must agree, because the whole text may be shifted.
    fn tab_columns_without_shift(&self, sent: &[u8]) -> Option<usize> {
        let [(known, file)] = self.pairs.as_slice() else { return None };
        let (columns, tabs) = (indent_width(known), file.len());
        let unit = columns.checked_div(tabs).filter(|unit| matches!(unit, 2 | 4 | 8))?;
        let other = indent_width(sent);
        let fits = other < columns || self.step_columns == unit;
        (unit * tabs == columns && fits && other.is_multiple_of(unit)).then_some(unit)
    }

    /// Returns the file's indentation step in spaces: 4 if all known depths are multiples of 4,
    /// else 2.
    fn file_step_spaces(&self) -> usize {
        let mut widths = self.pairs.iter().map(|(_, file)| indent_width(file)).filter(|&w| w > 0);
        if widths.clone().count() > 0 && widths.all(|w| w % 4 == 0) { 4 } else { 2 }
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The assumed width of a tab in columns.
const TAB_COLUMNS: usize = 4;

/// Returns the width of an indentation in columns, with [`TAB_COLUMNS`] for each tab.
fn indent_width(indent: &[u8]) -> usize {
    indent.iter().map(|&byte| if byte == b'\t' { TAB_COLUMNS } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::IndentMap;

    #[test]
    fn indentation_takes_the_files_form() {
        // Lines known on both sides, then a line as sent and as expected in the file.
        type IndentCase<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);
        let cases: &[IndentCase<'_>] = &[
            ("known", &[("  a", "\ta")], "  b", "\tb"),
            ("two spaces a tab", &[("a", "a"), ("  b", "\tb")], "    c", "\t\tc"),
            ("four spaces a tab", &[("a", "\ta")], "    b", "\t\tb"),
            ("tabs to spaces", &[("a", "a"), ("\tb", "    b")], "\t\tc", "        c"),
            ("shift right", &[("a", "    a")], "  b", "      b"),
            ("shift left", &[("    a", "a"), ("      b", "  b")], "        c", "    c"),
            ("unchanged", &[("a", "a"), ("  b", "  b")], "\tc", "\tc"),
            ("blank", &[("a", "\ta")], " ", " "),
            ("blank, known", &[("  a", "\ta")], "  ", "\t"),
            ("shallower, no shift", &[("        a", "\t\ta")], "b", "b"),
            ("tabs behind a shift", &[("  a", "a")], "  \t\tb", "\t\tb"),
            ("tabs behind a shift, of spaces", &[("    a", "  a")], "    \tb", "    b"),
            ("shallower than any", &[("    a", "\t\ta"), ("        b", "\t\t\tb")], "c", "\tc"),
        ];
        for (name, known, sent, placed) in cases {
            let mut map = IndentMap::default();
            for (sent, file) in *known {
                map.learn_pair(sent.as_bytes(), file.as_bytes());
            }
            let got = map.translate_line(sent.as_bytes());
            assert_eq!(String::from_utf8_lossy(&got), *placed, "{name}");
        }
    }
}
