//! Making up arguments from a JSON schema: the question's words for a query, a file for a path, sentences for the
//! rest.

use serde_json::{Map, Value};

use super::{
    material::Material,
    rank::rank,
    tools::{PATH_ARGUMENTS, QUERY_ARGUMENTS},
    words::terms,
};

/// Schemas that go into themselves end here.
const DEEPEST: usize = 8;

/// Longer lists are not made up, whatever the schema wants.
const LONGEST_LIST: u64 = 100;

/// What goes into queries and paths.
pub(super) struct Filling<'a> {
    pub(super) material: &'a Material,
    pub(super) query: String,
    pub(super) path: Option<String>,
}

impl Filling<'_> {
    /// An object of this schema, as well as it can be made up.
    pub(super) fn object(&self, schema: &Value) -> Map<String, Value> {
        match self.value(schema, schema, "", 0) {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    fn value(&self, root: &Value, schema: &Value, name: &str, depth: usize) -> Value {
        let Some(fields) = schema.as_object().filter(|_| depth < DEEPEST) else { return Value::Null };
        let go_on = |schema: &Value| self.value(root, schema, name, depth + 1);
        if let Some(target) = fields.get("$ref").and_then(Value::as_str) {
            let target = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
            return target.map_or(Value::Null, go_on);
        }
        if let Some(value) = fields.get("const").or(fields.get("default")) {
            return value.clone();
        }
        if let Some(choices) = fields.get("enum").and_then(Value::as_array) {
            return self.choice(choices);
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            let choices = fields.get(key).and_then(Value::as_array);
            if let Some(choice) =
                choices.and_then(|choices| choices.iter().find(|choice| kind(choice) != "null"))
            {
                return go_on(choice);
            }
        }
        match kind(schema) {
            "string" => self.text(schema, name).into(),
            "integer" => (self.number(schema, name) as i64).into(),
            "number" => self.number(schema, name).into(),
            "boolean" => false.into(),
            "array" => self.list(root, schema, name, depth),
            "object" => self.fields(root, schema, depth).into(),
            _ => Value::Null,
        }
    }

    fn fields(&self, root: &Value, schema: &Value, depth: usize) -> Map<String, Value> {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_none_or(|names| names.iter().any(|known| known == name));
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        properties
            .filter(|(name, _)| is_required(name))
            .map(|(name, property)| (name.clone(), self.value(root, property, name, depth + 1)))
            .collect()
    }

    fn list(&self, root: &Value, schema: &Value, name: &str, depth: usize) -> Value {
        let Some(items) = schema.get("items") else { return Value::Array(Vec::new()) };
        let limit =
            |key: &str| schema.get(key).and_then(Value::as_u64).map(|items| items.min(LONGEST_LIST) as usize);
        let least = limit("minItems").unwrap_or(0);
        let most = limit("maxItems").unwrap_or(3).max(least);
        if kind(items) != "string" || items.get("enum").is_some() || is_one_of(name, &PATH_ARGUMENTS) {
            let item = self.value(root, items, name, depth + 1);
            return Value::Array(std::iter::repeat_n(item, least.max(1).min(most)).collect());
        }
        let about = about(schema, name);
        let sentences = self.sentences(&about).into_iter().take(most).map(Value::from);
        Value::Array(sentences.collect())
    }

    fn text(&self, schema: &Value, name: &str) -> String {
        let text = if is_one_of(name, &QUERY_ARGUMENTS) {
            self.query.clone()
        } else if is_one_of(name, &PATH_ARGUMENTS) {
            self.path.clone().unwrap_or_else(|| ".".to_owned())
        } else {
            self.sentences(&about(schema, name)).into_iter().next().unwrap_or_default()
        };
        let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
        text.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect()
    }

    fn number(&self, schema: &Value, name: &str) -> f64 {
        let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
        let (least, most) = (limit("minimum").unwrap_or(f64::MIN), limit("maximum").unwrap_or(f64::MAX));
        let sentences = self.sentences(&about(schema, name));
        let found =
            sentences.iter().find_map(|sentence| sentence.split_whitespace().find_map(leading_number));
        found.unwrap_or(0.0).clamp(least.min(most), most)
    }

    /// The choice whose words occur most in what is known; else the first.
    fn choice(&self, choices: &[Value]) -> Value {
        let known = self.sentences("").join(" ");
        let known = terms(&format!("{} {known}", self.material.question));
        let score = |choice: &Value| {
            let own = terms(&choice.as_str().map_or_else(|| choice.to_string(), str::to_owned));
            known.iter().filter(|term| own.contains(term)).count()
        };
        // Of equals, `max_by_key` takes the last: look from behind.
        choices.iter().rev().max_by_key(|choice| score(choice)).cloned().unwrap_or_default()
    }

    /// What is known about this and the question, best first; else the question itself.
    fn sentences(&self, about: &str) -> Vec<String> {
        let both = format!("{about} {}", self.material.question);
        let mut ranked = rank(&both, &self.material.passages);
        if ranked.is_empty() {
            ranked = rank(about, &self.material.passages);
        }
        if ranked.is_empty() {
            return vec![self.material.question.clone()];
        }
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        ranked.into_iter().map(|ranked| ranked.passage.text.clone()).collect()
    }
}

fn about(schema: &Value, name: &str) -> String {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    format!("{} {description}", name.replace('_', " "))
}

fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ => "string",
    }
}

/// The number that a word is, perhaps with a unit behind it: `12.5kg`, but not `X100`.
fn leading_number(word: &str) -> Option<f64> {
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '-');
    let end = word.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-')).unwrap_or(word.len());
    word[..end].trim_end_matches(['.', '-']).parse().ok()
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.contains(&name.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::passages::Passage, *};

    fn fill(schema: &Value) -> Value {
        let material = Material {
            question: "How heavy is the pump and what colour has it?".into(),
            passages: vec![
                Passage::new("The weight of the pump is 12.5 kg.", "a.md:1"),
                Passage::new("The colour of the pump is blue.", "a.md:2"),
            ],
            ..Material::default()
        };
        let filling = Filling { material: &material, query: "pump weight".into(), path: Some("a.md".into()) };
        Value::Object(filling.object(schema))
    }

    #[test]
    fn fields_get_what_their_names_ask_for() {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": {"type": "string"}, "path": {"type": "string"}, "colour": {"type": "string"},
                "weight": {"type": "number"}, "rounded_weight": {"type": "integer", "maximum": 10},
                "hue": {"enum": ["red", "blue"]}, "sure": {"type": "boolean"}, "optional": {"type": "string"},
                "facts": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                "part": {"$ref": "#/$defs/part"}, "kind": {"const": "pump"}, "maybe": {"type": ["null", "string"]},
            },
            "required": ["query", "path", "colour", "weight", "rounded_weight", "hue", "sure", "facts", "part", "kind", "maybe"],
            "$defs": {"part": {"type": "object", "properties": {"colour": {"type": "string", "maxLength": 10}}}},
        });
        let filled = fill(&schema);
        let colour = "The colour of the pump is blue.";
        assert_eq!(filled["query"], "pump weight");
        assert_eq!(filled["path"], "a.md");
        assert_eq!(filled["colour"], colour);
        assert_eq!(filled["weight"], 12.5);
        assert_eq!(filled["rounded_weight"], 10);
        assert_eq!(filled["hue"], "blue");
        assert_eq!(filled["sure"], false);
        assert_eq!(filled["facts"].as_array().unwrap().len(), 2);
        assert_eq!(filled["part"], json!({"colour": "The colour"}));
        assert_eq!(filled["kind"], "pump");
        assert!(filled["maybe"].is_string());
        assert_eq!(filled.get("optional"), None);
    }

    #[test]
    fn a_schema_that_goes_into_itself_ends() {
        let schema = json!({"type": "object", "properties": {"child": {"$ref": "#"}}, "required": ["child"]});
        assert!(fill(&schema)["child"].is_object());
        assert_eq!(fill(&json!(true)), json!({}));
    }
}
