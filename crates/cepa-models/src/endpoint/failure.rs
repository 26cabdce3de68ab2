//! What servers say when they fail, and what kind of error it is.

use std::borrow::Cow;

use cepa_core::{ErrorType, ModelError};
use reqwest::{Response, StatusCode, header::LOCATION};
use serde_json::Value;

use super::{Endpoint, Patience, retry::retry_after};

/// How much of an error's body is read.
const MOST_READ: usize = 64 * 1024;
/// How many characters of a server's words are told.
const MOST_TOLD: usize = 500;

/// An error in a server's own words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ServerError {
    message: String,
    /// `code` and `type`, lower case.
    code: String,
    /// An HTTP status that the body names.
    status: Option<StatusCode>,
}

impl ServerError {
    /// The error that this JSON is, in one of the shapes that OpenAI-compatible servers use: `error` as an object
    /// or a text, `detail`, or `message` beside `code`.
    pub(crate) fn from_json(body: &Value) -> Option<Self> {
        let body = body.as_array().and_then(|items| items.first()).unwrap_or(body);
        let fields = body.as_object()?;
        let error =
            ["error", "errors", "detail"].iter().find_map(|key| fields.get(*key).filter(is_something));
        let error = match error {
            Some(error) => error.as_array().and_then(|items| items.first()).unwrap_or(error),
            None if fields.get("message").is_some_and(Value::is_string)
                && !fields.contains_key("choices") =>
            {
                body
            }
            None => return None,
        };
        let message = ["message", "msg", "detail"].iter().find_map(|key| error.get(*key)?.as_str());
        let message = message.or(error.as_str()).map_or_else(|| error.to_string(), str::to_owned);
        let code = ["code", "type", "status"].map(|key| match error.get(key) {
            Some(Value::String(code)) => code.to_lowercase(),
            Some(Value::Number(code)) => code.to_string(),
            _ => String::new(),
        });
        let status = code.iter().find_map(|code| code.parse().ok().filter(is_failure));
        Some(Self { message, code: code.join(" "), status })
    }

    /// The error that this body is, whatever it is.
    pub(crate) fn from_body(body: &[u8]) -> Self {
        let json = serde_json::from_slice(body).ok();
        json.and_then(|json| Self::from_json(&json)).unwrap_or_else(|| Self {
            message: words(&String::from_utf8_lossy(body)).into_owned(),
            code: String::new(),
            status: None,
        })
    }

    fn kind(&self, status: Option<StatusCode>) -> ErrorType {
        if let Some(status) = status.or(self.status) {
            return match status.as_u16() {
                401 => ErrorType::Authentication,
                402 | 403 => ErrorType::Permission,
                429 => ErrorType::RateLimit,
                408 | 409 | 500.. => ErrorType::Upstream,
                300..=399 => ErrorType::Setup,
                _ => ErrorType::InvalidRequest,
            };
        }
        let says = |words: &[&str]| words.iter().any(|word| self.code.contains(word));
        match () {
            () if says(&["rate_limit", "ratelimit", "too_many", "throttl", "quota"]) => ErrorType::RateLimit,
            () if says(&["auth", "api_key", "apikey"]) => ErrorType::Authentication,
            () if says(&["permission", "forbidden", "access", "balance"]) => ErrorType::Permission,
            () if says(&[
                "invalid",
                "bad_request",
                "badrequest",
                "not_found",
                "context_length",
                "unsupported",
            ]) =>
            {
                ErrorType::InvalidRequest
            }
            () => ErrorType::Upstream,
        }
    }

    /// No money, no answer: the same request will not work in a minute either.
    fn is_final(&self) -> bool {
        ["insufficient_quota", "billing", "balance"].iter().any(|word| self.code.contains(word))
    }
}

impl Endpoint {
    /// An error that came where an answer should have been, in a body of success.
    pub(crate) fn failed(&self, error: &ServerError) -> ModelError {
        self.server_error(error, None, "the server failed")
    }

    /// An answer that makes no sense.
    pub(crate) fn garbage(&self, what: &str, body: &[u8]) -> ModelError {
        let text = String::from_utf8_lossy(&body[..body.len().min(MOST_READ)]);
        self.error(ErrorType::Upstream, format_args!("{what}: {}", self.told(&words(&text))))
    }

    /// A status that is not success.
    pub(super) async fn refused(&self, mut response: Response, patience: &mut Patience) -> ModelError {
        let status = response.status();
        let wait = retry_after(response.headers());
        if status.is_redirection() {
            let to =
                response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("another place");
            let what =
                format_args!("the server answered {status} and points to {to}: set that as the base URL");
            return self.error(ErrorType::Setup, what);
        }
        let body = self.beginning(&mut response, patience, MOST_READ).await;
        let error = ServerError::from_body(&body);
        self.server_error(&error, Some(status), &format!("the server answered {status}"))
            .with_retry_after(wait)
    }

    fn server_error(&self, error: &ServerError, status: Option<StatusCode>, what: &str) -> ModelError {
        let kind = error.kind(status);
        let mut result = match &*error.message {
            "" => self.error(kind, what),
            message => self.error(kind, format_args!("{what}: {}", self.told(message))),
        };
        result.retryable &= !error.is_final();
        result
    }

    /// A server's words, at most so many. Keys go first: half a key is a secret too.
    fn told(&self, words: &str) -> String {
        let words = self.secrets.scrub(words);
        match words.char_indices().nth(MOST_TOLD) {
            Some((end, _)) => format!("{}…", &words[..end]),
            None => words,
        }
    }
}

fn is_something(value: &&Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

fn is_failure(status: &StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

/// The words of a body that is no JSON: of a web page its title, else its text.
fn words(body: &str) -> Cow<'_, str> {
    let body = body.trim();
    if !body.starts_with('<') {
        return Cow::Borrowed(body);
    }
    let lower = body.to_ascii_lowercase();
    let title = lower.find("<title>").and_then(|start| {
        let start = start + "<title>".len();
        Some(body[start..start + lower[start..].find("</title>")?].trim())
    });
    if let Some(title) = title.filter(|title| !title.is_empty()) {
        return Cow::Owned(format!("a web page, \"{title}\""));
    }
    let texts = body.split('<').filter_map(|piece| piece.split_once('>')).map(|(_, text)| text);
    let text = texts.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    Cow::Owned(format!("a web page, \"{text}\""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: &Value) -> (String, ErrorType) {
        let error = ServerError::from_json(body).unwrap();
        (error.message.clone(), error.kind(None))
    }

    #[test]
    fn understands_the_errors_of_many_servers() {
        let cases = [
            (
                json!({"error": {"message": "slow", "code": "rate_limit_exceeded"}}),
                "slow",
                ErrorType::RateLimit,
            ),
            (json!({"error": {"message": "no", "type": "invalid_api_key"}}), "no", ErrorType::Authentication),
            (json!({"error": {"message": "bad", "code": 400}}), "bad", ErrorType::InvalidRequest),
            (json!({"error": {"message": "busy", "code": "503"}}), "busy", ErrorType::Upstream),
            (json!({"error": "out of memory"}), "out of memory", ErrorType::Upstream),
            (json!({"error": {"x": 1}}), "{\"x\":1}", ErrorType::Upstream),
            (json!({"detail": "missing"}), "missing", ErrorType::Upstream),
            (json!({"detail": [{"msg": "field required"}]}), "field required", ErrorType::Upstream),
            (json!({"code": "InvalidParameter", "message": "q"}), "q", ErrorType::InvalidRequest),
            (json!({"code": "Throttling.RateQuota", "message": "q"}), "q", ErrorType::RateLimit),
            (json!([{"error": {"code": 403, "message": "stay out"}}]), "stay out", ErrorType::Permission),
        ];
        for (body, message, kind) in cases {
            assert_eq!(read(&body), (message.to_owned(), kind), "{body}");
        }
    }

    #[test]
    fn an_answer_is_no_error() {
        for body in [
            json!({"choices": [], "message": "hi"}),
            json!({"error": null, "choices": []}),
            json!({"error": {}, "id": "x"}),
            json!("error"),
        ] {
            assert_eq!(ServerError::from_json(&body), None, "{body}");
        }
    }

    #[test]
    fn of_a_web_page_the_title_is_told() {
        assert_eq!(
            words("<html><head><TITLE>502 Bad Gateway</TITLE></head>"),
            "a web page, \"502 Bad Gateway\""
        );
        assert_eq!(words("<p>Not <b>here</b>\n</p>"), "a web page, \"Not here\"");
        assert_eq!(words("<title>İ</title>"), "a web page, \"İ\"");
        assert_eq!(words("<"), "a web page, \"\"");
        assert_eq!(words(" plain "), "plain");
    }
}
