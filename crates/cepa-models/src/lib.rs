//! Models for Cepa.
//!
//! | model | feature | what it is |
//! |---|---|---|
//! | `OpenAiChat` | `openai` (default) | chat over any OpenAI-compatible API: OpenAI, DashScope, DeepSeek, Moonshot, vLLM, Ollama, llama.cpp, … |
//! | `OpenAiEmbedding` | `openai` (default) | embeddings over the same API |
//! | `HttpRerank` | `openai` (default) | reranking over the API that Jina, Cohere, vLLM, llama.cpp and others have |
//! | `OpenAiTts` | `openai` (default) | speech over the same API, one sentence after the other |
//! | `DashScopeRealtimeTts` | `realtime` | speech over DashScope's realtime API, spoken while the text is written |
//! | `EspeakTts` | `espeak` | speech by eSpeak NG, a program of this machine: no key, no network, many languages |
//! | `ExtractiveModel` | `extractive` | answers with sentences out of what tools return: no key, no download, and not a language model |
//! | `MiniLmEmbedding` | `minilm` | embeddings by all-MiniLM-L6-v2, in process: no key and no server, two files |
//!
//! TLS is a feature too: `rustls` (default), `rustls-no-provider` (the program installs a provider of cryptography
//! before it builds a model) or `native-tls`. Without one of them only `http:` and `ws:` servers can be reached.

#[cfg(any(feature = "openai", feature = "espeak", feature = "minilm"))]
mod config_error;
#[cfg(feature = "realtime")]
mod dashscope;
mod embedding;
#[cfg(feature = "openai")]
mod endpoint;
#[cfg(feature = "espeak")]
mod espeak;
#[cfg(feature = "extractive")]
mod extractive;
#[cfg(feature = "openai")]
mod http_rerank;
#[cfg(feature = "minilm")]
mod minilm;
#[cfg(feature = "openai")]
mod openai;
mod rerank;
mod tts;

#[cfg(any(feature = "openai", feature = "espeak", feature = "minilm"))]
pub use config_error::ConfigError;
#[cfg(feature = "realtime")]
pub use dashscope::{DashScopeRealtimeTts, DashScopeRealtimeTtsBuilder};
pub use embedding::{EmbeddingModel, Embeddings};
#[cfg(feature = "espeak")]
pub use espeak::{EspeakTts, EspeakTtsBuilder};
#[cfg(feature = "extractive")]
pub use extractive::ExtractiveModel;
#[cfg(feature = "openai")]
pub use http_rerank::{HttpRerank, HttpRerankBuilder};
#[cfg(feature = "minilm")]
pub use minilm::MiniLmEmbedding;
#[cfg(feature = "openai")]
pub use openai::{
    OpenAiChat, OpenAiChatBuilder, OpenAiEmbedding, OpenAiEmbeddingBuilder, OpenAiTts, OpenAiTtsBuilder,
    SpeechFormat, json_schema_format,
};
pub use rerank::{Ranked, RerankModel};
pub use tts::{
    AudioChunk, TtsAudio, TtsAudioChunks, TtsModel, TtsSession, TtsText, TtsTextSender, synthesize,
    tts_audio, tts_text,
};
