//! Records, words, bits and limits that cross to JavaScript, each declared once.
//!
//! A declaration in [`wire!`](crate::wire!) is the Rust type and its encoding. `scripts/wire.mjs`
//! reads the same declarations and writes `js/engine/generated/records.ts`: the TypeScript type with the
//! doc comments, and its decoder. Fields cross in the order in which they are declared, so a new
//! field is one line in the declaration.
//!
//! The doc comments are read by users of both languages: write names in backticks, and `None` for a
//! missing value. In TypeScript the names are in camel case, and `None` is `null`.

use std::borrow::Cow;

use crate::pack::Packed;

/// A value that can be appended to a [`Packed`] result.
pub trait Wire {
    /// The number that stands for `None`: one with which no encoded value of this type begins. So a
    /// record whose first field can be -1 or absent must not be optional.
    const NONE: f64 = -1.0;

    /// Appends the encoded value.
    fn put(&self, to: &mut Packed);

    /// Returns the encoded value as a result of its own.
    fn packed(&self) -> Packed {
        let mut packed = Packed::new();
        self.put(&mut packed);
        packed
    }
}

impl Wire for u64 {
    fn put(&self, to: &mut Packed) {
        to.num(*self);
    }
}

impl Wire for u32 {
    fn put(&self, to: &mut Packed) {
        to.num((*self).into());
    }
}

impl Wire for i64 {
    const NONE: f64 = f64::NAN;

    fn put(&self, to: &mut Packed) {
        // Line numbers, also negative ones from the end; exact to 2^53.
        to.float(*self as f64);
    }
}

impl Wire for f64 {
    const NONE: f64 = f64::NAN;

    fn put(&self, to: &mut Packed) {
        to.float(*self);
    }
}

impl Wire for bool {
    fn put(&self, to: &mut Packed) {
        to.flag(*self);
    }
}

impl Wire for &str {
    fn put(&self, to: &mut Packed) {
        to.str(self);
    }
}

impl Wire for String {
    fn put(&self, to: &mut Packed) {
        to.str(self);
    }
}

impl Wire for Cow<'_, str> {
    fn put(&self, to: &mut Packed) {
        to.str(self);
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, to: &mut Packed) {
        match self {
            Some(value) => value.put(to),
            None => to.float(T::NONE),
        }
    }
}

/// A list is encoded as the number of its items, then each item.
impl<T: Wire> Wire for Vec<T> {
    fn put(&self, to: &mut Packed) {
        to.num(self.len() as u64);
        self.iter().for_each(|item| item.put(to));
    }
}

/// Declares a type that crosses to JavaScript; see [`crate::wire`](mod@crate::wire).
///
/// A struct may begin with `..name: Other`: the fields of another record, which are its own fields
/// in TypeScript. The variants of an enum are words there, and cross as their index. `bits` are
/// constants, which are combined in one number; `constants` are limits and other numbers of their own.
///
/// ```
/// use filewright_core::wire::Wire;
///
/// filewright_core::wire! {
///     /// The side of a road.
///     #[derive(Clone, Copy)]
///     pub enum Side {
///         /// Where most drive.
///         Right = "right",
///         /// Where some drive.
///         Left = "left",
///     }
/// }
/// filewright_core::wire! {
///     /// A road.
///     pub struct Road {
///         /// The side to drive on; `None` where there is none.
///         pub side: Option<Side>,
///         /// Metres.
///         pub length: u64,
///     }
/// }
///
/// assert_eq!(Side::Left.as_str(), "left");
/// let packed = Road { side: Some(Side::Left), length: 7 }.packed();
/// assert_eq!(packed.nums, [1.0, 7.0]);
/// ```
#[macro_export]
macro_rules! wire {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<$life:lifetime>)? {
            $(..$base:ident: $base_type:ty,)?
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        $vis struct $name $(<$life>)? {
            $(
                /// The record that this one continues.
                pub $base: $base_type,
            )?
            $($(#[$field_meta])* $field_vis $field: $type,)*
        }

        impl $(<$life>)? $crate::wire::Wire for $name $(<$life>)? {
            fn put(&self, to: &mut $crate::pack::Packed) {
                $($crate::wire::Wire::put(&self.$base, to);)?
                $($crate::wire::Wire::put(&self.$field, to);)*
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)*
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$variant_meta])* $variant,)*
        }

        impl $name {
            /// All values, in the order of their indexes.
            #[allow(dead_code)] // only some enums are read back from an index
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the word for the value in JavaScript and in messages.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl $crate::wire::Wire for $name {
            fn put(&self, to: &mut $crate::pack::Packed) {
                to.num(*self as u64);
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis constants $name:ident {
            $($(#[$constant_meta:meta])* $constant:ident = $value:literal,)*
        }
    ) => {
        $crate::wire! {
            $(#[$meta])*
            $vis bits $name {
                $($(#[$constant_meta])* $constant = $value,)*
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis bits $name:ident {
            $($(#[$bit_meta:meta])* $bit:ident = $value:literal,)*
        }
    ) => {
        $(#[$meta])*
        $vis struct $name;

        impl $name {
            $($(#[$bit_meta])* pub const $bit: u32 = $value;)*
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::wire! {
        struct Base {
            line: i64,
            name: &'static str,
        }
    }

    crate::wire! {
        struct Whole {
            ..base: Base,
            sizes: Vec<Option<u64>>,
            time: Option<f64>,
            last: Option<i64>,
        }
    }

    #[test]
    fn fields_cross_in_the_order_of_their_declaration() {
        let base = Base { line: -3, name: "é" };
        let sizes = vec![Some(7), None];
        let packed = Whole { base, sizes, time: Some(1.5), last: Some(-1) }.packed();
        assert_eq!(packed.nums, [-3.0, 1.0, 2.0, 7.0, -1.0, 1.5, -1.0]);
        assert_eq!(packed.text, "é");
    }

    #[test]
    fn a_missing_number_differs_from_every_finite_value() {
        let whole = |time, last| {
            let base = Base { line: 1, name: "" };
            Whole { base, sizes: Vec::new(), time, last }.packed().nums
        };
        assert!(whole(None, None)[3..].iter().all(|number| number.is_nan()));
        assert_eq!(whole(Some(-1.0), Some(0))[3..], [-1.0, 0.0]);
    }
}
