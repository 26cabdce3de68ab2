//! [`Prices`]: what tokens cost.

use std::collections::BTreeMap;

use cepa_core::Usage;

use super::cost::Cost;

/// The most that a million tokens may cost: what is beyond is a mistake.
const MOST: f64 = 1e9;

/// What the tokens of models cost, in one currency.
///
/// Models are named as they are in [`ChatModel::name`](cepa_core::ChatModel::name): exactly, or by what the name begins
/// with and a `*`. The exact name comes first, then the longest beginning. `*` alone is any model.
///
/// ```
/// use cepa_core::Usage;
/// use cepa_tracing::{Price, Prices};
///
/// let prices = Prices::builder("USD")
///     .model("gpt-4.1-mini", Price::new(0.40, 1.60).cache_read(0.10))
///     .model("claude-sonnet-*", Price::new(3, 15).cache_read(0.30).cache_write(3.75))
///     .build()?;
/// let cost = prices.cost("gpt-4.1-mini", &Usage::new(1_000_000, 500_000)).ok_or("no price")?;
/// assert_eq!(cost.to_string(), "1.2"); // 0.40 + 0.80
/// assert_eq!(prices.cost("llama", &Usage::new(10, 10)), None);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prices {
    currency: String,
    exact: BTreeMap<String, Rates>,
    /// By what names begin with, the longest first.
    beginnings: Vec<(String, Rates)>,
}

/// What a million tokens of a model cost.
#[must_use = "a price is given to `Prices::builder(…).model(…)`"]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
    cache_beside_input: bool,
}

impl Price {
    /// What a million tokens sent and a million tokens written cost, in units of the currency. More than six digits
    /// after the point are rounded.
    ///
    /// Tokens that came from the provider's cache, or went into it, cost as much as other sent ones.
    pub fn new(input: impl Into<f64>, output: impl Into<f64>) -> Self {
        let input = input.into();
        Self {
            input,
            output: output.into(),
            cache_read: input,
            cache_write: input,
            cache_beside_input: false,
        }
    }

    /// What a million sent tokens cost that came from the provider's cache.
    pub fn cache_read(mut self, price: impl Into<f64>) -> Self {
        self.cache_read = price.into();
        self
    }

    /// What a million sent tokens cost that were put into the provider's cache.
    pub fn cache_write(mut self, price: impl Into<f64>) -> Self {
        self.cache_write = price.into();
        self
    }

    /// The server counts the tokens of its cache beside the input tokens, and not among them: so does Anthropic's own
    /// API. Servers of OpenAI's kind, and all models of `cepa-models`, count them among.
    pub fn cache_beside_input(mut self) -> Self {
        self.cache_beside_input = true;
        self
    }
}

/// Prices that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PriceError {
    /// A price that is negative, infinite, none, or beyond all bounds.
    #[error(
        "the `{field}` price of `{model}` is {value}, but must be a number from 0 to {MOST}, for a million tokens"
    )]
    OutOfBounds {
        /// The model.
        model: String,
        /// Which of its prices.
        field: &'static str,
        /// The price.
        value: f64,
    },
    /// A name that is empty, or has a `*` in the middle.
    #[error("`{model}` is no name of a model: give the name, or what it begins with and a `*` at its end")]
    Name {
        /// The name.
        model: String,
    },
    /// A model that has two prices.
    #[error("`{model}` has two prices: leave one of them out")]
    Repeated {
        /// The model.
        model: String,
    },
    /// A currency without a name.
    #[error("the currency has no name: give one, such as `USD`")]
    NoCurrency,
}

/// Puts [`Prices`] together.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone, Debug)]
pub struct PricesBuilder {
    currency: String,
    models: Vec<(String, Price)>,
}

impl PricesBuilder {
    /// Sets what a model costs, or all models whose names begin so: `gpt-4.1*`.
    pub fn model(mut self, name: impl Into<String>, price: Price) -> Self {
        self.models.push((name.into(), price));
        self
    }

    /// Checks the prices.
    ///
    /// # Errors
    /// A price below zero or beyond all bounds, a name that is none, a model with two prices, a currency without a name.
    pub fn build(self) -> Result<Prices, PriceError> {
        let Self { currency, models } = self;
        if currency.trim().is_empty() {
            return Err(PriceError::NoCurrency);
        }
        let (mut exact, mut beginnings) = (BTreeMap::new(), BTreeMap::new());
        for (model, price) in models {
            let rates = Rates::of(&model, price)?;
            let (names, name) = match model.strip_suffix('*') {
                Some(beginning) => (&mut beginnings, beginning),
                None => (&mut exact, model.as_str()),
            };
            if model.is_empty() || name.contains('*') {
                return Err(PriceError::Name { model });
            }
            if names.insert(name.to_owned(), rates).is_some() {
                return Err(PriceError::Repeated { model });
            }
        }
        let mut beginnings: Vec<_> = beginnings.into_iter().collect();
        beginnings.sort_by_key(|(beginning, _)| std::cmp::Reverse(beginning.len()));
        Ok(Prices { currency, exact, beginnings })
    }
}

impl Prices {
    /// Prices in this currency, such as `USD`.
    pub fn builder(currency: impl Into<String>) -> PricesBuilder {
        PricesBuilder { currency: currency.into(), models: Vec::new() }
    }

    /// The currency.
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// What these tokens of a model cost; `None` for a model without a price.
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<Cost> {
        let by_beginning = || {
            let (_, rates) = self.beginnings.iter().find(|(beginning, _)| model.starts_with(beginning))?;
            Some(rates)
        };
        self.exact.get(model).or_else(by_beginning).map(|rates| rates.cost(usage))
    }
}

/// What one token costs, in the parts of [`Cost`].
#[derive(Clone, Copy, Debug)]
struct Rates {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    cache_beside_input: bool,
}

impl Rates {
    fn of(model: &str, price: Price) -> Result<Self, PriceError> {
        let Price { input, output, cache_read, cache_write, cache_beside_input } = price;
        let rate = |field, value: f64| {
            if !(0.0..=MOST).contains(&value) {
                return Err(PriceError::OutOfBounds { model: model.to_owned(), field, value });
            }
            // Units for a million tokens are millionths for one.
            Ok((value * 1e6).round() as u64)
        };
        Ok(Self {
            input: rate("input", input)?,
            output: rate("output", output)?,
            cache_read: rate("cache read", cache_read)?,
            cache_write: rate("cache write", cache_write)?,
            cache_beside_input,
        })
    }

    fn cost(&self, usage: &Usage) -> Cost {
        let (read, written) = (usage.cache_input_tokens, usage.cache_creation_input_tokens);
        let input = match self.cache_beside_input {
            true => usage.input_tokens,
            false => usage.input_tokens.saturating_sub(read).saturating_sub(written),
        };
        let parts = [
            (input, self.input),
            (read, self.cache_read),
            (written, self.cache_write),
            (usage.output_tokens, self.output),
        ];
        parts.into_iter().map(|(tokens, rate)| Cost::of_tokens(tokens, rate)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(models: &[(&str, Price)]) -> Result<Prices, PriceError> {
        let builder = Prices::builder("USD");
        models.iter().fold(builder, |builder, (name, price)| builder.model(*name, *price)).build()
    }

    fn usage(input: u64, output: u64, read: u64, written: u64) -> Usage {
        let mut usage = Usage::new(input, output);
        (usage.cache_input_tokens, usage.cache_creation_input_tokens) = (read, written);
        usage
    }

    #[test]
    fn the_exact_name_comes_first_then_the_longest_beginning() {
        let price = |input: i32| Price::new(input, 0);
        let prices =
            built(&[("*", price(1)), ("gpt-*", price(2)), ("gpt-4*", price(3)), ("gpt-4", price(4))])
                .unwrap();
        let million = Usage::new(1_000_000, 0);
        let cost = |model: &str| prices.cost(model, &million).unwrap().to_string();
        assert_eq!(
            ["llama", "gpt-3", "gpt-4.1", "gpt-4", "GPT-4"].map(cost),
            ["1", "2", "3", "4", "1"].map(str::to_owned)
        );
    }

    #[test]
    fn what_has_no_price_has_no_cost() {
        let prices = built(&[("gpt-*", Price::new(1, 1))]).unwrap();
        assert_eq!(prices.cost("llama", &Usage::new(1, 1)), None);
        assert_eq!(prices.cost("gpt-4", &Usage::new(0, 0)), Some(Cost::default()));
    }

    #[test]
    fn cached_tokens_are_among_the_input_or_beside_it() {
        let price = Price::new(1, 10).cache_read(0.1).cache_write(1.25);
        let prices =
            built(&[("among", price), ("beside", price.cache_beside_input()), ("plain", Price::new(1, 10))]);
        let prices = prices.unwrap();
        let cost = |model| prices.cost(model, &usage(1_000, 10, 600, 300)).unwrap().to_string();
        // Input, cache read, cache written, output.
        assert_eq!(cost("among"), "0.000635"); // 100 + 60 + 375 + 100
        assert_eq!(cost("beside"), "0.001535"); // 1000 + 60 + 375 + 100
        assert_eq!(cost("plain"), "0.0011"); // 1000 + 100
    }

    #[test]
    fn prices_that_floats_cannot_hold_are_exact() {
        let prices = built(&[("m", Price::new(0.1, 0.000_001))]).unwrap();
        assert_eq!(prices.cost("m", &Usage::new(3, 0)).unwrap().to_string(), "0.0000003");
        assert_eq!(prices.cost("m", &Usage::new(0, 1)).unwrap().to_string(), "0.000000000001");
    }

    #[test]
    fn more_tokens_than_cost_anything_stop_at_no_number_that_wraps() {
        let prices = built(&[("m", Price::new(1e9, 1e9))]).unwrap();
        let cost = prices.cost("m", &usage(u64::MAX, u64::MAX, 0, 0)).unwrap();
        assert_eq!(cost.parts(), 2 * u128::from(u64::MAX) * 1_000_000_000_000_000);
    }

    #[test]
    fn prices_that_cannot_be_say_what_is_wrong() {
        let error = |models: &[(&str, Price)]| built(models).unwrap_err().to_string();
        let one = Price::new(1, 1);
        let bounds = "but must be a number from 0 to 1000000000, for a million tokens";
        assert_eq!(error(&[("m", Price::new(-1, 1))]), format!("the `input` price of `m` is -1, {bounds}"));
        assert_eq!(
            error(&[("m", Price::new(1, f64::NAN))]),
            format!("the `output` price of `m` is NaN, {bounds}")
        );
        assert_eq!(
            error(&[("m", one.cache_read(f64::INFINITY))]),
            format!("the `cache read` price of `m` is inf, {bounds}")
        );
        assert!(error(&[("m", one.cache_write(2e9))]).contains("`cache write`"));
        assert_eq!(error(&[("a", one), ("a", one)]), "`a` has two prices: leave one of them out");
        assert_eq!(error(&[("a*", one), ("a*", one)]), "`a*` has two prices: leave one of them out");
        for name in ["", "a*b", "**"] {
            let text = "is no name of a model: give the name, or what it begins with and a `*` at its end";
            assert_eq!(error(&[(name, one)]), format!("`{name}` {text}"));
        }
        let error = Prices::builder(" ").build().unwrap_err().to_string();
        assert_eq!(error, "the currency has no name: give one, such as `USD`");
    }
}
