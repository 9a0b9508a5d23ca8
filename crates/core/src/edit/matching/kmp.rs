//! Finds a sequence of numbers in another in linear time (Knuth, Morris and Pratt).

/// Returns every index of `hay` at which `needle` occurs; occurrences may overlap.
pub(in crate::edit) fn find_all(hay: &[u64], needle: &[u64]) -> Vec<usize> {
    let mut places = Vec::new();
    if needle.is_empty() || hay.len() < needle.len() {
        return places;
    }
    let borders = borders(needle);
    let mut held = 0;
    for (at, number) in hay.iter().enumerate() {
        while held > 0 && (held == needle.len() || needle[held] != *number) {
            held = borders[held - 1];
        }
        if needle[held] == *number {
            held += 1;
        }
        if held == needle.len() {
            places.push(at + 1 - held);
        }
    }
    places
}

/// Returns for each prefix the length of its longest proper border.
fn borders(needle: &[u64]) -> Vec<usize> {
    let mut borders = vec![0; needle.len()];
    let mut held = 0;
    for at in 1..needle.len() {
        while held > 0 && needle[held] != needle[at] {
            held = borders[held - 1];
        }
        held += usize::from(needle[held] == needle[at]);
        borders[at] = held;
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
