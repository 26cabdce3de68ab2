//! [`ArgumentRule`]: what one argument must be like.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    builder::RuleError,
    condition::{Bound, Condition, Predicate},
    pointer::Pointer,
};
use crate::judge::{OnViolation, Violation};

/// What one argument of a tool must be like, and what happens otherwise: the call is refused, unless said differently.
///
/// A value that is missing breaks a rule only if it is [`required`](Self::required). A value of the wrong kind (a text
/// where a bound is set on a number) breaks it.
///
/// ```
/// use cepa_guard::ArgumentRule;
///
/// let only_ours = ArgumentRule::of("fetch").at("/url").matches(r"https://(\w+\.)?example\.com(/.*)?");
/// let not_many = ArgumentRule::of("send").at("/to").check(|to| match to.as_array() {
///     Some(list) if list.len() > 10 => Err("no more than 10 at once".to_owned()),
///     _ => Ok(()),
/// });
/// # let _ = (only_ours, not_many);
/// ```
#[must_use = "a rule is given to `ArgumentGuard::builder().rule(…)`"]
#[derive(Clone, Debug)]
pub struct ArgumentRule {
    tools: Option<Vec<String>>,
    at: String,
    required: bool,
    conditions: Vec<Raw>,
    action: OnViolation,
    because: Option<String>,
}

/// A condition as it was given.
#[derive(Clone, Debug)]
enum Raw {
    Ready(Condition),
    Matches(String),
    MatchesNot(String),
    AtLeast(f64),
    AtMost(f64),
    Schema(Value),
}

impl ArgumentRule {
    /// A rule on the tool of this name.
    pub fn of(tool: impl Into<String>) -> Self {
        Self::on(Some(vec![tool.into()]))
    }

    /// A rule on each of these tools.
    pub fn of_each<T: Into<String>>(tools: impl IntoIterator<Item = T>) -> Self {
        Self::on(Some(tools.into_iter().map(Into::into).collect()))
    }

    /// A rule on every tool.
    pub fn of_any() -> Self {
        Self::on(None)
    }

    fn on(tools: Option<Vec<String>>) -> Self {
        let (at, conditions) = (String::new(), Vec::new());
        Self { tools, at, required: false, conditions, action: OnViolation::Deny, because: None }
    }

    /// Where the argument is: a JSON pointer, in which `*` stands for each item of a list and each field of an object
    /// (`/items/*/price`). Without it the rule is about all arguments as one object.
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.at = pointer.into();
        self
    }

    /// The argument must be there.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// It must be one of these.
    pub fn one_of<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> Self {
        self.ready(Condition::OneOf(values.into_iter().map(Into::into).collect()))
    }

    /// It must be none of these.
    pub fn none_of<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> Self {
        self.ready(Condition::NoneOf(values.into_iter().map(Into::into).collect()))
    }

    /// It must be a text that this regular expression describes from its first to its last character.
    pub fn matches(mut self, regex: impl Into<String>) -> Self {
        self.conditions.push(Raw::Matches(regex.into()));
        self
    }

    /// It must be a text in which this regular expression is found nowhere.
    pub fn matches_not(mut self, regex: impl Into<String>) -> Self {
        self.conditions.push(Raw::MatchesNot(regex.into()));
        self
    }

    /// It must be a number of at least this.
    pub fn at_least(mut self, bound: impl Into<f64>) -> Self {
        self.conditions.push(Raw::AtLeast(bound.into()));
        self
    }

    /// It must be a number of at most this.
    pub fn at_most(mut self, bound: impl Into<f64>) -> Self {
        self.conditions.push(Raw::AtMost(bound.into()));
        self
    }

    /// A text may have at most so many characters, a list so many items, an object so many fields.
    pub fn max_len(self, len: usize) -> Self {
        self.ready(Condition::MaxLen(len))
    }

    /// It must be as this JSON schema says.
    pub fn schema(mut self, schema: Value) -> Self {
        self.conditions.push(Raw::Schema(schema));
        self
    }

    /// It must be as this function says. The text of an `Err` is the reason, for the model and the person.
    pub fn check(self, check: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.ready(Condition::Check(Predicate(Arc::new(check))))
    }

    /// A call that breaks the rule is put to a person, whatever rules allow it.
    pub fn or_ask(mut self) -> Self {
        self.action = OnViolation::Ask;
        self
    }

    /// A call that breaks the rule is refused: the default.
    pub fn or_deny(mut self) -> Self {
        self.action = OnViolation::Deny;
        self
    }

    /// A call that breaks the rule ends the reply with [`CallRefused`](crate::CallRefused).
    pub fn or_fail(mut self) -> Self {
        self.action = OnViolation::Error;
        self
    }

    /// What the model or the person is told instead of the rule's own words.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.because = Some(reason.into());
        self
    }

    fn ready(mut self, condition: Condition) -> Self {
        self.conditions.push(Raw::Ready(condition));
        self
    }

    pub(super) fn compile(self) -> Result<Compiled, RuleError> {
        let tool = match &self.tools {
            Some(tools) if tools.iter().any(String::is_empty) || tools.is_empty() => {
                return Err(RuleError::NoTool);
            }
            Some(tools) => tools.join(", "),
            None => "any".to_owned(),
        };
        let Some(pointer) = Pointer::parse(&self.at) else {
            return Err(RuleError::Pointer { tool, pointer: self.at });
        };
        if self.conditions.is_empty() && !self.required {
            return Err(RuleError::Empty { tool, pointer: self.at });
        }
        let conditions =
            self.conditions.into_iter().map(|raw| raw.compile(&tool)).collect::<Result<_, _>>()?;
        let (tools, at, required) = (self.tools, self.at, self.required);
        Ok(Compiled { tools, at, pointer, required, conditions, action: self.action, because: self.because })
    }
}

impl Raw {
    fn compile(self, tool: &str) -> Result<Condition, RuleError> {
        let regex = |pattern: String| {
            regex::Regex::new(&pattern)
                .map_err(|source| RuleError::Regex { tool: tool.to_owned(), source: Box::new(source) })
        };
        let bound =
            |bound: f64| Bound::new(bound).ok_or_else(|| RuleError::Bound { tool: tool.to_owned(), bound });
        Ok(match self {
            Self::Ready(condition) => condition,
            Self::Matches(pattern) => {
                // By itself first, so that no pattern can close the group.
                regex(pattern.clone())?;
                // A pattern of many lines may end in a comment, which a line end closes.
                let whole = regex(format!(r"\A(?:{pattern})\z"));
                Condition::Matches(whole.or_else(|_| regex(format!("\\A(?:{pattern}\n)\\z")))?, pattern)
            }
            Self::MatchesNot(pattern) => Condition::MatchesNot(regex(pattern)?),
            Self::AtLeast(least) => Condition::AtLeast(bound(least)?),
            Self::AtMost(most) => Condition::AtMost(bound(most)?),
            Self::Schema(schema) => {
                let validator = jsonschema::validator_for(&schema);
                Condition::Schema(Arc::new(validator.map_err(|error| RuleError::Schema {
                    tool: tool.to_owned(),
                    reason: error.to_string(),
                })?))
            }
        })
    }
}

/// A rule, ready to be used.
#[derive(Debug)]
pub(crate) struct Compiled {
    tools: Option<Vec<String>>,
    at: String,
    pointer: Pointer,
    required: bool,
    conditions: Vec<Condition>,
    pub(super) action: OnViolation,
    because: Option<String>,
}

impl Compiled {
    pub(super) fn is_about(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|name| name == tool))
    }

    pub(super) fn check(&self, tool: &str, input: &Map<String, Value>) -> Option<Violation> {
        let whole;
        let values = if self.at.is_empty() {
            whole = Value::Object(input.clone());
            Ok(vec![(String::new(), &whole)])
        } else {
            self.pointer.values_in(input)
        };
        let broken = match values {
            Err(()) => Some(format!("`{}` leads to too many values", self.at)),
            Ok(values) if values.is_empty() && self.required => Some(format!("`{}` is missing", self.at)),
            Ok(values) => values.into_iter().find_map(|(place, value)| {
                let broken = self.conditions.iter().find_map(|condition| condition.broken_by(value))?;
                let place = if place.is_empty() { "the arguments".to_owned() } else { format!("`{place}`") };
                Some(format!("{place} {broken}"))
            }),
        }?;
        let reason = match &self.because {
            Some(because) => because.clone(),
            None => format!("This call of `{tool}` is not allowed: {broken}."),
        };
        Some(Violation { action: self.action, reason })
    }
}
