//! What can be wrong with a model's settings.

/// A model cannot be built from these settings. No message holds a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The model has no name.
    #[error("the model's name is empty: give the name that the server knows it by, such as `gpt-4o-mini`")]
    NoName,
    /// No key for a server that needs one.
    #[error("no API key for {host}: call `.api_key(…)`, or set {variable} and call `.or_env()`")]
    NoKey {
        /// The server.
        host: String,
        /// The environment's variable that may hold the key.
        variable: &'static str,
    },
    /// The key cannot be sent.
    #[error(
        "the API key holds characters that no HTTP header can carry (a line break, say): check how it was read"
    )]
    BadKey,
    /// The base URL is none.
    #[error("`{url}` cannot be the base URL: {reason}; it looks like `{example}`")]
    BadBaseUrl {
        /// The URL, without a password where it held one.
        url: String,
        /// What is wrong with it.
        reason: String,
        /// One that works.
        example: &'static str,
    },
    /// A header cannot be sent.
    #[error(
        "header `{name}` cannot be sent: its name or its value holds characters that no HTTP header can carry"
    )]
    BadHeader {
        /// Its name.
        name: String,
    },
    /// A number is out of its range.
    #[error("`{setting}` {reason}")]
    OutOfRange {
        /// The setting.
        setting: &'static str,
        /// What its range is.
        reason: &'static str,
    },
    /// A program that the model runs cannot be run.
    #[error(
        "`{program}` cannot be run: {reason}; on Debian and Ubuntu `apt-get install {package}` installs it, \
         and `.program(…)` says where it is if it is elsewhere"
    )]
    NoProgram {
        /// The program.
        program: String,
        /// The Debian package that it is in.
        package: &'static str,
        /// What the system said.
        reason: String,
    },
    /// The program does not have the voice.
    #[error("the voice `{voice}` cannot be used: {reason}; `espeak-ng --voices` lists those there are")]
    BadVoice {
        /// The voice.
        voice: String,
        /// What the program said.
        reason: String,
    },
    /// A file that the model is made of cannot be used.
    #[error(
        "{path} cannot be used: {reason}; in Cepa's repository `cargo xtask fetch` gets the files of all-MiniLM-L6-v2 and says where \
         they are"
    )]
    BadFile {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The HTTP client could not be set up.
    #[error("the HTTP client cannot be set up: {reason}")]
    Client {
        /// What it said.
        reason: String,
    },
}

impl From<ConfigError> for cepa_core::Error {
    fn from(error: ConfigError) -> Self {
        let kind = cepa_core::ErrorType::Setup;
        cepa_core::ModelError::new(kind, error.to_string()).with_source(error).into()
    }
}
