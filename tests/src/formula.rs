//! Formulas: `VALUE if CONDITION; VALUE if CONDITION; ...; VALUE`.
//!
//! Each part is an expression over the integers with the operators of C (`+ - * / % == != < <= > >= && ||`); the first
//! part whose condition holds gives the value, none gives 0.

use evalexpr::{ContextWithMutableVariables, EvalexprError, HashMapContext, Node, Value, build_operator_tree};

/// The names that a formula may use.
#[derive(Clone, Debug, Default)]
pub struct Names(HashMapContext);

/// A piecewise formula.
#[derive(Clone, Debug)]
pub struct Formula {
    parts: Vec<(Node, Option<Node>)>,
}

impl Names {
    /// Gives `name` a value.
    pub fn set(&mut self, name: &str, value: i64) -> Result<(), EvalexprError> {
        self.0.set_value(name.to_owned(), Value::Int(value))
    }
}

impl Formula {
    /// Reads a formula.
    pub fn parse(text: &str) -> Result<Self, EvalexprError> {
        let part = |part: &str| match part.split_once(" if ") {
            Some((value, condition)) => Ok((build_operator_tree(value)?, Some(build_operator_tree(condition)?))),
            None => Ok((build_operator_tree(part)?, None)),
        };
        Ok(Self { parts: text.split(';').map(part).collect::<Result<_, EvalexprError>>()? })
    }

    /// The value under `names`.
    pub fn value(&self, names: &Names) -> Result<i64, EvalexprError> {
        for (value, condition) in &self.parts {
            let holds = match condition {
                Some(condition) => condition.eval_boolean_with_context(&names.0)?,
                None => true,
            };
            if holds {
                return value.eval_int_with_context(&names.0);
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, w: i64, r: i64) -> i64 {
        let mut names = Names::default();
        for (name, value) in [("w", w), ("r", r), ("N", 10)] {
            names.set(name, value).unwrap();
        }
        Formula::parse(text).unwrap().value(&names).unwrap()
    }

    #[test]
    fn the_first_part_that_holds_gives_the_value() {
        let ring = "3*N if r == w % 4 + 1 && w >= 1; 7 if w == 0";
        assert_eq!(value(ring, 4, 1), 30);
        assert_eq!(value(ring, 0, 2), 7);
        assert_eq!(value(ring, 2, 1), 0);
        assert_eq!(value("N", 0, 0), 10);
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        let error = Formula::parse("M + 1").unwrap().value(&Names::default()).unwrap_err();
        assert!(error.to_string().contains('M'), "{error}");
    }
}
