//! Images, sounds and files as content parts.

use std::{borrow::Cow, fmt};

use cepa_core::{DataBlock, Source};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// One part of a content.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    Text {
        text: Cow<'a, str>,
        /// A mark for the server's cache of prompts.
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<&'a Value>,
    },
    ImageUrl {
        image_url: Link<'a>,
    },
    VideoUrl {
        video_url: Link<'a>,
    },
    InputAudio {
        input_audio: Audio<'a>,
    },
    File {
        file: File<'a>,
    },
}

#[derive(Debug, Serialize)]
pub(super) struct Link<'a> {
    url: Place<'a>,
}

#[derive(Debug, Serialize)]
pub(super) struct Audio<'a> {
    data: &'a str,
    format: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct File<'a> {
    filename: &'a str,
    file_data: Place<'a>,
}

/// A URL, or the data itself as one.
#[derive(Debug)]
enum Place<'a> {
    Url(&'a str),
    Data { media_type: &'a str, base64: &'a str },
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => f.write_str(url),
            Self::Data { media_type, base64 } => write!(f, "data:{media_type};base64,{base64}"),
        }
    }
}

impl Serialize for Place<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'a> Part<'a> {
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text { text: text.into(), cache_control: None }
    }

    /// A data block as a part. What the model does not take, or no server can fetch, becomes a line of text that
    /// says so: an old message must not make each later request fail.
    pub(super) fn data(block: &'a DataBlock, accepted: &[&str]) -> Self {
        Self::sendable(block, accepted).unwrap_or_else(|| {
            let media_type = block.media_type();
            tracing::warn!(
                media_type,
                "a data block cannot be sent to this model: it gets a line of text instead"
            );
            Self::text(left_out(block))
        })
    }

    fn sendable(block: &'a DataBlock, accepted: &[&str]) -> Option<Self> {
        let media_type = block.media_type();
        if !accepted.iter().any(|pattern| matches(pattern, media_type)) {
            return None;
        }
        let place = match &block.source {
            Source::Base64 { data, media_type, .. } => Place::Data { media_type, base64: data },
            Source::Url { url, .. } if url.starts_with("file:") => return None,
            Source::Url { url, .. } => Place::Url(url),
            _ => return None,
        };
        Some(match (media_type.split('/').next(), &place) {
            (Some("image"), _) => Self::ImageUrl { image_url: Link { url: place } },
            (Some("video"), _) => Self::VideoUrl { video_url: Link { url: place } },
            (Some("audio"), Place::Url(data) | Place::Data { base64: data, .. }) => {
                Self::InputAudio { input_audio: Audio { data, format: audio_format(media_type) } }
            }
            (_, Place::Data { .. }) => {
                let filename = block.name.as_deref().unwrap_or(match media_type {
                    "application/pdf" => "document.pdf",
                    _ => "document",
                });
                Self::File { file: File { filename, file_data: place } }
            }
            (_, Place::Url(_)) => return None,
        })
    }
}

/// What stands for data that is not sent.
pub(super) fn left_out(block: &DataBlock) -> String {
    let media_type = block.media_type();
    match (&block.name, &block.source) {
        (Some(name), _) => format!("[{media_type}, {name}: not shown]"),
        (None, Source::Url { url, .. }) => format!("[{media_type} at {url}: not shown]"),
        _ => format!("[{media_type}: not shown]"),
    }
}

/// The API's name of a sound's format.
fn audio_format(media_type: &str) -> &str {
    let subtype = media_type.split_once('/').map_or(media_type, |(_, subtype)| subtype);
    let subtype = subtype.split(';').next().unwrap_or_default().trim();
    match subtype.strip_prefix("x-").unwrap_or(subtype) {
        "mpeg" | "mp3" => "mp3",
        "wav" | "wave" | "vnd.wave" => "wav",
        other => other,
    }
}

/// Whether a media type matches a pattern (`image/*`).
fn matches(pattern: &str, media_type: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => media_type.starts_with(prefix),
        None => pattern == media_type,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn part(source: Source, name: Option<&str>) -> Value {
        let mut block = DataBlock::new(source);
        block.name = name.map(str::to_owned);
        serde_json::to_value(Part::data(&block, &["image/*", "audio/*", "application/pdf"])).unwrap()
    }

    #[test]
    fn data_becomes_the_part_that_the_api_has_for_it() {
        let image = part(Source::base64("AAE=", "image/png"), None);
        assert_eq!(image, json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAE="}}));
        let link = part(Source::url("https://x/a.png", "image/png"), None);
        assert_eq!(link, json!({"type": "image_url", "image_url": {"url": "https://x/a.png"}}));
        let sound = part(Source::base64("AAE=", "audio/mpeg"), None);
        assert_eq!(sound, json!({"type": "input_audio", "input_audio": {"data": "AAE=", "format": "mp3"}}));
        let file = part(Source::base64("AAE=", "application/pdf"), Some("a.pdf"));
        let data = "data:application/pdf;base64,AAE=";
        assert_eq!(file, json!({"type": "file", "file": {"filename": "a.pdf", "file_data": data}}));
    }

    #[test]
    fn what_cannot_be_sent_is_said() {
        let cases = [
            (part(Source::base64("AAE=", "video/mp4"), None), "[video/mp4: not shown]"),
            (part(Source::base64("AAE=", "text/csv"), Some("a.csv")), "[text/csv, a.csv: not shown]"),
            (
                part(Source::url("file:///a.png", "image/png"), None),
                "[image/png at file:///a.png: not shown]",
            ),
        ];
        for (part, text) in cases {
            assert_eq!(part, json!({"type": "text", "text": text}));
        }
    }
}
