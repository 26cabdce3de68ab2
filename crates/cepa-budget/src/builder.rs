//! Setting a budget up.

use std::sync::atomic::AtomicBool;

use crate::{
    middleware::{AtEnd, Per, ReplyBudgetControlMiddleware},
    texts,
};

/// Sets a [`ReplyBudgetControlMiddleware`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone, Debug)]
pub struct Builder {
    token_budget: f64,
    input_token_weight: f64,
    output_token_weight: f64,
    hint_message: String,
    per: Per,
    at_end: AtEnd,
    allowed_tools: Vec<String>,
}

/// A budget that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// A number that is negative, infinite or none.
    #[error("`{field}` is {value}, but must be a finite number of at least 0")]
    OutOfBounds {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: f64,
    },
}

impl Builder {
    pub(crate) fn new(token_budget: f64) -> Self {
        Self {
            token_budget,
            input_token_weight: 1.0,
            output_token_weight: 1.0,
            hint_message: texts::HINT_BUDGET.to_owned(),
            per: Per::Reply,
            at_end: AtEnd::Hint,
            allowed_tools: Vec::new(),
        }
    }

    /// What an input token costs. 1 by default. Tokens read from a prompt cache do not count extra.
    pub fn input_token_weight(mut self, weight: f64) -> Self {
        self.input_token_weight = weight;
        self
    }

    /// What an output token costs. 1 by default.
    pub fn output_token_weight(mut self, weight: f64) -> Self {
        self.output_token_weight = weight;
        self
    }

    /// What the model is told when the budget is spent.
    pub fn hint_message(mut self, hint: impl Into<String>) -> Self {
        self.hint_message = hint.into();
        self
    }

    /// What the budget is for: each reply (the default), or all replies of a session together.
    pub fn per(mut self, per: Per) -> Self {
        self.per = per;
        self
    }

    /// What happens when the budget is spent.
    pub fn at_end(mut self, at_end: AtEnd) -> Self {
        self.at_end = at_end;
        self
    }

    /// Tools that may still be called when the budget is spent.
    pub fn allow_tools<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.allowed_tools = tools.into_iter().map(Into::into).collect();
        self
    }

    /// Checks the numbers and builds the layer.
    ///
    /// # Errors
    /// A number that is negative or not finite.
    pub fn build(self) -> Result<ReplyBudgetControlMiddleware, BudgetError> {
        let numbers = [
            ("token_budget", self.token_budget),
            ("input_token_weight", self.input_token_weight),
            ("output_token_weight", self.output_token_weight),
        ];
        for (field, value) in numbers {
            if !value.is_finite() || value < 0.0 {
                return Err(BudgetError::OutOfBounds { field, value });
            }
        }
        Ok(ReplyBudgetControlMiddleware {
            token_budget: self.token_budget,
            input_token_weight: self.input_token_weight,
            output_token_weight: self.output_token_weight,
            hint_message: self.hint_message,
            per: self.per,
            at_end: self.at_end,
            allowed_tools: self.allowed_tools,
            warned: AtomicBool::new(false),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ReplyBudgetControlMiddleware;

    #[test]
    fn a_budget_that_cannot_be_says_which_number_is_wrong() {
        let error =
            |budget: f64| ReplyBudgetControlMiddleware::builder(budget).build().unwrap_err().to_string();
        assert_eq!(error(-1.0), "`token_budget` is -1, but must be a finite number of at least 0");
        assert_eq!(error(f64::INFINITY), "`token_budget` is inf, but must be a finite number of at least 0");
        let weight =
            ReplyBudgetControlMiddleware::builder(1).output_token_weight(f64::NAN).build().unwrap_err();
        assert_eq!(
            weight.to_string(),
            "`output_token_weight` is NaN, but must be a finite number of at least 0"
        );
        assert!(ReplyBudgetControlMiddleware::builder(0).build().is_ok());
    }
}
