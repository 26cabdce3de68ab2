//! [`Test`]: a [`Filter`] in terms that stores share.

use crate::{Filter, MetadataKind, MetadataValue};

/// The kinds that a field may have.
const KINDS: [MetadataKind; 4] =
    [MetadataKind::Bool, MetadataKind::Integer, MetadataKind::Float, MetadataKind::Text];

/// What a [`Filter`] comes to when each kind of value is a field of its own.
///
/// A comparison is between values of one kind, no number is infinite or `NaN`, and nothing is negated but by tests that
/// say what holds for a chunk without the field. So a store's own rules for these do not matter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// All of these hold. There are two or more.
    All(Vec<Test>),
    /// One of these holds. There are two or more.
    Any(Vec<Test>),
    Always,
    Never,
    /// Whether the field has a value of this kind.
    Has {
        kind: MetadataKind,
        field: String,
        there: bool,
    },
    /// The field has a value of the kind of this one, and they compare like this.
    Compare {
        field: String,
        comparison: Comparison,
        value: MetadataValue,
    },
    /// The field has a value of the kind of these, and it is among them, or not. There are some, all of one kind.
    Among {
        field: String,
        values: Vec<MetadataValue>,
        among: bool,
    },
}

/// How a value compares with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Test {
    /// What this filter comes to.
    pub(crate) fn of(filter: &Filter) -> Self {
        match filter {
            Filter::Eq(field, value) => Self::one_of(field, std::slice::from_ref(value)),
            Filter::In(field, values) => Self::one_of(field, values),
            Filter::Ne(field, value) => {
                let differs = Self::one_of(field, std::slice::from_ref(value)).negated();
                Self::all([Self::exists(field), differs])
            }
            Filter::Lt(field, value) => Self::compare(field, Comparison::Less, value),
            Filter::Le(field, value) => Self::compare(field, Comparison::AtMost, value),
            Filter::Gt(field, value) => Self::compare(field, Comparison::More, value),
            Filter::Ge(field, value) => Self::compare(field, Comparison::AtLeast, value),
            Filter::Exists(field) => Self::exists(field),
            Filter::And(filters) => Self::all(filters.iter().map(Self::of)),
            Filter::Or(filters) => Self::any(filters.iter().map(Self::of)),
            Filter::Not(filter) => Self::of(filter).negated(),
        }
    }

    fn all(tests: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for test in tests {
            match test {
                Self::Never => return Self::Never,
                Self::Always => {}
                Self::All(tests) => all.extend(tests),
                test => all.push(test),
            }
        }
        match all.len() {
            0 => Self::Always,
            1 => all.remove(0),
            _ => Self::All(all),
        }
    }

    fn any(tests: impl IntoIterator<Item = Self>) -> Self {
        let mut any = Vec::new();
        for test in tests {
            match test {
                Self::Always => return Self::Always,
                Self::Never => {}
                Self::Any(tests) => any.extend(tests),
                test => any.push(test),
            }
        }
        match any.len() {
            0 => Self::Never,
            1 => any.remove(0),
            _ => Self::Any(any),
        }
    }

    fn has(kind: MetadataKind, field: &str) -> Self {
        Self::Has { kind, field: field.to_owned(), there: true }
    }

    fn exists(field: &str) -> Self {
        Self::any(KINDS.map(|kind| Self::has(kind, field)))
    }

    fn among(field: &str, values: Vec<MetadataValue>) -> Self {
        if values.is_empty() {
            return Self::Never;
        }
        Self::Among { field: field.to_owned(), values, among: true }
    }

    fn one_of(field: &str, values: &[MetadataValue]) -> Self {
        let of_kind = |kind| values.iter().filter(move |value| value.kind() == kind).cloned();
        let mut integers: Vec<_> = of_kind(MetadataKind::Integer).collect();
        let mut ranges = Vec::new();
        for number in of_kind(MetadataKind::Float).filter_map(|value| value.as_f64()) {
            let (from, to) = (first(|found| found >= number), first(|found| found > number));
            match (from, to.map_or(Some(i64::MAX), |to| to.checked_sub(1))) {
                (Some(from), Some(to)) if from == to => integers.push(from.into()),
                (Some(from), Some(to)) if from < to => ranges.push(Self::all([
                    Self::comparison(field, Comparison::AtLeast, from.into()),
                    Self::comparison(field, Comparison::AtMost, to.into()),
                ])),
                _ => {}
            }
        }
        let numbers = values.iter().filter_map(MetadataValue::as_f64);
        let floats = numbers.filter(|number| number.is_finite()).map(MetadataValue::Float).collect();
        let plain = [
            Self::among(field, of_kind(MetadataKind::Bool).collect()),
            Self::among(field, integers),
            Self::among(field, floats),
            Self::among(field, of_kind(MetadataKind::Text).collect()),
        ];
        Self::any(plain.into_iter().chain(ranges))
    }

    fn comparison(field: &str, comparison: Comparison, value: MetadataValue) -> Self {
        Self::Compare { field: field.to_owned(), comparison, value }
    }

    fn compare(field: &str, comparison: Comparison, value: &MetadataValue) -> Self {
        match value {
            MetadataValue::Bool(value) => {
                let fits = [false, true].into_iter().filter(|found| comparison.holds(found, value));
                Self::among(field, fits.map(MetadataValue::Bool).collect())
            }
            MetadataValue::Text(_) => Self::comparison(field, comparison, value.clone()),
            MetadataValue::Integer(number) => Self::any([
                Self::comparison(field, comparison, value.clone()),
                #[expect(clippy::cast_precision_loss, reason = "as `Filter` compares them")]
                Self::comparison(field, comparison, MetadataValue::Float(*number as f64)),
            ]),
            MetadataValue::Float(number) if number.is_nan() => Self::Never,
            MetadataValue::Float(number) => {
                let float = match number.is_finite() {
                    true => Self::comparison(field, comparison, value.clone()),
                    false if comparison.holds(&0.0, number) => Self::has(MetadataKind::Float, field),
                    false => Self::Never,
                };
                Self::any([Self::integers(field, comparison, *number), float])
            }
        }
    }

    /// The whole numbers that compare like this with a number once they are rounded to one like it.
    fn integers(field: &str, comparison: Comparison, number: f64) -> Self {
        use Comparison::{AtLeast, AtMost, Less, More};
        let from = match comparison {
            Less | AtLeast => first(|found| found >= number),
            AtMost | More => first(|found| found > number),
        };
        match (comparison, from) {
            (Less | AtMost, None) => Self::has(MetadataKind::Integer, field),
            (More | AtLeast, None) => Self::Never,
            (Less | AtMost, Some(from)) => Self::comparison(field, Less, from.into()),
            (More | AtLeast, Some(from)) => Self::comparison(field, AtLeast, from.into()),
        }
    }

    fn negated(self) -> Self {
        let lacks = |kind, field: &str| Self::Has { kind, field: field.to_owned(), there: false };
        match self {
            Self::All(tests) => Self::any(tests.into_iter().map(Self::negated)),
            Self::Any(tests) => Self::all(tests.into_iter().map(Self::negated)),
            Self::Always => Self::Never,
            Self::Never => Self::Always,
            Self::Has { kind, field, there } => Self::Has { kind, field, there: !there },
            Self::Compare { field, comparison, value } => Self::any([
                lacks(value.kind(), &field),
                Self::Compare { field, comparison: comparison.opposite(), value },
            ]),
            Self::Among { field, values, among } => {
                let lacks = values.first().map(|value| lacks(value.kind(), &field));
                let other = Self::Among { field, values, among: !among };
                Self::any(lacks.into_iter().chain([other]))
            }
        }
    }
}

impl Comparison {
    fn opposite(self) -> Self {
        match self {
            Self::Less => Self::AtLeast,
            Self::AtMost => Self::More,
            Self::More => Self::AtMost,
            Self::AtLeast => Self::Less,
        }
    }

    fn holds<T: PartialOrd>(self, one: &T, other: &T) -> bool {
        match self {
            Self::Less => one < other,
            Self::AtMost => one <= other,
            Self::More => one > other,
            Self::AtLeast => one >= other,
        }
    }
}

/// The first whole number that fits when it is rounded to a number; all after it fit as well.
fn first(fits: impl Fn(f64) -> bool) -> Option<i64> {
    #[expect(clippy::cast_precision_loss, reason = "as `Filter` compares them")]
    let fits = |number: i64| fits(number as f64);
    if !fits(i64::MAX) {
        return None;
    }
    let (mut low, mut high) = (i64::MIN, i64::MAX);
    while low < high {
        // Rounded down, below 0 as well.
        let middle = (low & high) + ((low ^ high) >> 1);
        match fits(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Comparison, Test};
    use crate::{Filter, Metadata, MetadataValue};

    /// A test, read as what its words say.
    fn holds(test: &Test, metadata: &Metadata) -> bool {
        let of_kind = |field: &String, like: &MetadataValue| {
            metadata.get(field).filter(|found| found.kind() == like.kind())
        };
        match test {
            Test::All(tests) => tests.iter().all(|test| holds(test, metadata)),
            Test::Any(tests) => tests.iter().any(|test| holds(test, metadata)),
            Test::Always => true,
            Test::Never => false,
            Test::Has { kind, field, there } => {
                metadata.get(field).is_some_and(|found| found.kind() == *kind) == *there
            }
            Test::Compare { field, comparison, value } => {
                of_kind(field, value).is_some_and(|found| match (found, value) {
                    (MetadataValue::Integer(one), MetadataValue::Integer(other)) => {
                        comparison.holds(one, other)
                    }
                    (MetadataValue::Float(one), MetadataValue::Float(other)) => comparison.holds(one, other),
                    (MetadataValue::Text(one), MetadataValue::Text(other)) => comparison.holds(one, other),
                    _ => false,
                })
            }
            Test::Among { field, values, among } => {
                of_kind(field, &values[0]).is_some_and(|found| values.contains(found) == *among)
            }
        }
    }

    fn number() -> impl Strategy<Value = f64> {
        let edge = 9_007_199_254_740_992.0_f64;
        prop_oneof![
            -3.0..3.0_f64,
            (-3..3_i8).prop_map(f64::from),
            prop::sample::select(vec![edge, edge + 2.0, -edge, 9.3e18, -9.3e18, 9.223_372_036_854_776e18]),
            any::<i64>().prop_map(|number| number as f64),
        ]
    }

    fn integer() -> impl Strategy<Value = i64> {
        let edge = 9_007_199_254_740_992_i64;
        prop_oneof![
            -3..3_i64,
            edge - 3..edge + 3,
            -edge - 3..-edge + 3,
            i64::MAX - 600..=i64::MAX,
            Just(i64::MIN),
            any::<i64>()
        ]
    }

    fn value(odd: bool) -> impl Strategy<Value = MetadataValue> {
        let odd = match odd {
            true => vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            false => vec![0.0],
        };
        prop_oneof![
            any::<bool>().prop_map(MetadataValue::from),
            integer().prop_map(MetadataValue::from),
            number().prop_map(MetadataValue::from),
            prop::sample::select(odd).prop_map(MetadataValue::from),
            "[ab]{0,2}".prop_map(MetadataValue::from),
        ]
    }

    fn filter() -> impl Strategy<Value = Filter> {
        let field = || "[xy]";
        let leaf = prop_oneof![
            (field(), value(true)).prop_map(|(field, value)| Filter::Eq(field, value)),
            (field(), value(true)).prop_map(|(field, value)| Filter::Ne(field, value)),
            (field(), prop::collection::vec(value(true), 0..4))
                .prop_map(|(field, values)| Filter::In(field, values)),
            (field(), value(true)).prop_map(|(field, value)| Filter::Lt(field, value)),
            (field(), value(true)).prop_map(|(field, value)| Filter::Le(field, value)),
            (field(), value(true)).prop_map(|(field, value)| Filter::Gt(field, value)),
            (field(), value(true)).prop_map(|(field, value)| Filter::Ge(field, value)),
            field().prop_map(Filter::Exists),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::And),
                prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::Or),
                inner.prop_map(|filter| !filter),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn a_test_holds_for_what_its_filter_finds(
            filter in filter(),
            metadata in prop::collection::btree_map("[xy]", value(false), 0..3),
        ) {
            let test = Test::of(&filter);
            prop_assert_eq!(holds(&test, &metadata), filter.matches(&metadata), "{:?}", test);
        }

        #[test]
        fn whole_numbers_compare_with_others_as_in_a_filter(integer in integer(), number in number()) {
            let metadata = Metadata::from_iter([("x".to_owned(), integer.into())]);
            for (comparison, filter) in [
                (Comparison::Less, Filter::lt("x", number)),
                (Comparison::AtMost, Filter::le("x", number)),
                (Comparison::More, Filter::gt("x", number)),
                (Comparison::AtLeast, Filter::ge("x", number)),
            ] {
                let test = Test::integers("x", comparison, number);
                prop_assert_eq!(holds(&test, &metadata), filter.matches(&metadata), "{:?}", test);
            }
            let equal = Filter::eq("x", number);
            prop_assert_eq!(holds(&Test::of(&equal), &metadata), equal.matches(&metadata));
        }
    }
}
