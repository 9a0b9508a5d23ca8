//! Finds a sequence of numbers in another in linear time (Knuth, Morris and Pratt).

/// Returns every index of `hay` at which `needle` occurs; occurrences may overlap.
pub(in crate::edit) fn find_all(hay: &[u64], needle: &[u64]) -> Vec<usize> {
    let mut places = Vec::new();
    if needle.is_empty() || hay.len() < needle.len() {
        return places;
    }
    let borders = border_lengths(needle);
    let mut matched = 0;
    for (at, number) in hay.iter().enumerate() {
        while matched > 0 && (matched == needle.len() || needle[matched] != *number) {
            matched = borders[matched - 1];
        }
        if needle[matched] == *number {
            matched += 1;
        }
        if matched == needle.len() {
            places.push(at + 1 - matched);
        }
    }
    places
}

/// Returns for each prefix the length of its longest border, that is, of the longest shorter prefix
/// which it also ends with.
fn border_lengths(needle: &[u64]) -> Vec<usize> {
    let mut borders = vec![0; needle.len()];
    let mut matched = 0;
    for at in 1..needle.len() {
        while matched > 0 && needle[matched] != needle[at] {
            matched = borders[matched - 1];
        }
        matched += usize::from(needle[matched] == needle[at]);
        borders[at] = matched;
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::find_all;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn occurrences_equal_those_of_a_naive_search(
            hay in proptest::collection::vec(0u64..3, 0..40),
            needle in proptest::collection::vec(0u64..3, 1..5),
        ) {
            let plain: Vec<usize> = (0..hay.len().saturating_sub(needle.len() - 1))
                .filter(|&at| hay[at..].starts_with(&needle))
                .collect();
            prop_assert_eq!(find_all(&hay, &needle), plain);
        }
    }
}
