//! Models over the OpenAI API, by OpenAI or by one of the many servers that speak it.

mod answer;
mod assembly;
mod chat;
mod chat_builder;
mod embedding;
mod embedding_builder;
mod media;
mod messages;
mod provider;
mod reading;
mod request;
mod round;
mod speech;
mod tool_calls;
mod tts;
mod tts_builder;
mod usage;

pub use self::{
    chat::OpenAiChat, chat_builder::OpenAiChatBuilder, embedding::OpenAiEmbedding,
    embedding_builder::OpenAiEmbeddingBuilder, request::json_schema_format, speech::SpeechFormat,
    tts::OpenAiTts, tts_builder::OpenAiTtsBuilder,
};
