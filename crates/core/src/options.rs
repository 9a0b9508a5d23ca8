//! Reads options that JavaScript passes as one JSON object, field by field.
//!
//! A missing or null field means the default; a value of the wrong type is an `INVALID_ARGUMENT`
//! that names the option. Unknown fields are ignored, so that one object can serve several readers.

use serde_json::{Map, Value};

use crate::error::{Code, Error, Result};

/// A JSON object of options.
#[derive(Clone, Debug, Default)]
pub struct Options(Map<String, Value>);

impl Options {
    /// Parses the JSON text of an object.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if it is not an object.
    pub fn parse(json: &str) -> Result<Self> {
        match serde_json::from_str(json) {
            Ok(Value::Object(map)) => Ok(Self(map)),
            _ => Err(Error::new(Code::InvalidArgument, "options must be a JSON object")),
        }
    }

    /// Returns the value of an option unless it is missing or null.
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns the option as a string; `None` if it is missing or null.
    pub fn text(&self, name: &str) -> Result<Option<&str>> {
        self.read(name, "a string", Value::as_str)
    }

    /// Returns the option as a boolean, or `default` if it is missing or null.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool> {
        Ok(self.read(name, "true or false", Value::as_bool)?.unwrap_or(default))
    }

    /// Returns the option as an integer from 0 to below 9.1e15, where numbers of JavaScript are no
    /// longer exact; `None` if it is missing or null.
    pub fn number(&self, name: &str) -> Result<Option<u64>> {
        self.read(name, "a whole number", |value| match value.as_f64() {
            // JavaScript has one number type, so 3 may arrive as 3.0.
            Some(number) if number >= 0.0 && number.fract() == 0.0 && number < 9.1e15 => {
                Some(number as u64)
            }
            _ => None,
        })
    }

    /// Returns the option as an integer between -9.1e15 and 9.1e15, exclusive; `None` if it is
    /// missing or null.
    pub fn integer(&self, name: &str) -> Result<Option<i64>> {
        self.read(name, "a whole number", |value| match value.as_f64() {
            Some(number) if number.fract() == 0.0 && number.abs() < 9.1e15 => Some(number as i64),
            _ => None,
        })
    }

    /// Returns true if the option is present and null, for options in which null has a meaning.
    pub fn is_null(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(Value::is_null)
    }

    /// Returns the option as a list of strings. A single string is a list of one; a missing option
    /// is an empty list.
    pub fn list(&self, name: &str) -> Result<Vec<&str>> {
        let list = self.read(name, "a list of strings", |value| match value {
            Value::String(text) => Some(vec![text.as_str()]),
            Value::Array(items) => items.iter().map(Value::as_str).collect(),
            _ => None,
        });
        Ok(list?.unwrap_or_default())
    }

    /// Returns the index of the option's value in `words`, or 0 if it is missing or null.
    pub fn choice(&self, name: &str, words: &[&str]) -> Result<usize> {
        match self.text(name)? {
            None => Ok(0),
            Some(text) => words.iter().position(|word| *word == text).ok_or_else(|| {
                invalid(name, format!("{name} must be one of {}", words.join(", ")))
            }),
        }
    }

    /// Returns the values of these options as one text, which is equal for equal values.
    pub fn canonical(&self, names: &[&str]) -> String {
        let values = names.iter().map(|name| self.get(name).cloned().unwrap_or(Value::Null));
        Value::Array(values.collect()).to_string()
    }

    /// Returns the option converted by `convert`, whose `None` is the error that the option must be
    /// `what`.
    fn read<'a, T>(
        &'a self,
        name: &str,
        what: &str,
        convert: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>> {
        self.get(name)
            .map(|value| {
                convert(value).ok_or_else(|| invalid(name, format!("{name} must be {what}")))
            })
            .transpose()
    }
}

/// Returns the error `INVALID_ARGUMENT` for one option.
pub fn invalid(name: &str, message: impl Into<String>) -> Error {
    Error::new(Code::InvalidArgument, message).detail("argument", name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_kinds() {
        let options = Options::parse(
            r#"{"a":"x","b":true,"n":3.0,"l":["p","q"],"one":"p","none":null,"case":"smart"}"#,
        )
        .unwrap();
        assert_eq!(options.text("a").unwrap(), Some("x"));
        assert!(options.flag("b", false).unwrap());
        assert!(options.flag("none", true).unwrap());
        assert_eq!(options.number("n").unwrap(), Some(3));
        assert_eq!(options.integer("n").unwrap(), Some(3));
        assert!(options.is_null("none") && !options.is_null("absent") && !options.is_null("n"));
        assert_eq!(options.list("l").unwrap(), ["p", "q"]);
        assert_eq!(options.list("one").unwrap(), ["p"]);
        assert_eq!(options.choice("case", &["sensitive", "smart"]).unwrap(), 1);
        for error in [
            options.text("b").unwrap_err(),
            options.flag("a", true).unwrap_err(),
            options.number("a").unwrap_err(),
            options.integer("a").unwrap_err(),
            options.list("n").unwrap_err(),
            options.choice("a", &["y"]).unwrap_err(),
            Options::parse("[1]").unwrap_err(),
        ] {
            assert_eq!(error.code, Code::InvalidArgument);
        }
    }
}
