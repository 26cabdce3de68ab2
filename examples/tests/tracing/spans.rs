//! Spans as a collector has them, as trees.

use std::fmt;

use serde_json::Value;

/// Spans in the order in which they began.
pub(crate) struct Spans(Vec<Span>);

/// One span, as OTLP's JSON.
pub(crate) struct Span(Value);

impl Spans {
    pub(crate) fn new(spans: Vec<Value>) -> Self {
        let mut spans: Vec<_> = spans.into_iter().map(Span).collect();
        spans.sort_by_key(Span::began);
        Self(spans)
    }

    pub(crate) fn named(&self, name: &str) -> Vec<&Span> {
        self.0.iter().filter(|span| span.text("name") == name).collect()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, span: &Span, depth: usize) -> fmt::Result {
        writeln!(f, "{:indent$}{}{}", "", span.text("name"), span.status(), indent = 2 * depth)?;
        let (trace_id, span_id) = span.context();
        let is_inside = |other: &&Span| other.text("parentSpanId") == span_id;
        for inside in self.0.iter().filter(is_inside) {
            assert_eq!(inside.context().0, trace_id, "a parent in another trace");
            self.write(f, inside, depth + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .filter(|span| span.text("parentSpanId").is_empty())
            .try_for_each(|root| self.write(f, root, 0))
    }
}

impl Span {
    fn text(&self, field: &str) -> &str {
        self.0[field].as_str().unwrap_or_default()
    }

    fn began(&self) -> u64 {
        self.text("startTimeUnixNano").parse().unwrap()
    }

    /// How it ended; nothing where it does not say.
    fn status(&self) -> String {
        match self.0["status"]["code"].as_u64() {
            Some(1) => ": ok".to_owned(),
            Some(2) => format!(": {}", self.attribute("error.type").as_str().unwrap_or("error")),
            _ => String::new(),
        }
    }

    /// Trace and span.
    pub(crate) fn context(&self) -> (String, String) {
        context(&self.0)
    }

    /// The traces and spans that it is linked to.
    pub(crate) fn links(&self) -> Vec<(String, String)> {
        self.0["links"].as_array().into_iter().flatten().map(context).collect()
    }

    /// An attribute's value; null where there is none.
    pub(crate) fn attribute(&self, name: &str) -> Value {
        attribute(&self.0, name)
    }

    /// The names of its events.
    pub(crate) fn events(&self) -> Vec<&str> {
        self.0["events"].as_array().into_iter().flatten().filter_map(|event| event["name"].as_str()).collect()
    }
}

fn context(of: &Value) -> (String, String) {
    let text = |field: &str| of[field].as_str().unwrap_or_default().to_owned();
    (text("traceId"), text("spanId"))
}

fn attribute(of: &Value, name: &str) -> Value {
    let attributes = of["attributes"].as_array().into_iter().flatten();
    let value =
        attributes.filter(|attribute| attribute["key"] == name).map(|attribute| &attribute["value"]).next();
    match value {
        // OTLP's JSON writes whole numbers as texts.
        Some(value) if value["intValue"].is_string() => {
            value["intValue"].as_str().and_then(|number| number.parse::<i64>().ok()).into()
        }
        Some(value) => value.as_object().and_then(|value| value.values().next()).cloned().unwrap_or_default(),
        None => Value::Null,
    }
}
