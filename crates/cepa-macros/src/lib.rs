//! The attributes of Cepa: [`macro@middleware`] and [`macro@tool`].
//!
//! They are re-exported by `cepa` and `cepa-core`; nobody needs this crate for itself.

mod attributes;
mod crate_path;
mod middleware;
mod spans;
mod spelling;
#[cfg(test)]
mod testing;
mod tool;
mod unparsed;

use proc_macro::TokenStream;

/// Turns the `async fn`s of an `impl Middleware for …` into the hooks of a layer.
///
/// ```
/// # use onion as cepa_core;
/// use cepa_core::{Cx, HookSet, Middleware, Msg, Next, Reply, ReplyInput, Result, SystemPrompt, middleware};
///
/// struct Polite;
///
/// #[middleware]
/// impl Middleware for Polite {
///     async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
///         let msg = next.run(input).await?;
///         println!("{} has spoken", cx.agent_name());
///         Ok(msg)
///     }
///
///     async fn on_system_prompt(&self, _cx: Cx<SystemPrompt>, prompt: String) -> Result<String> {
///         Ok(prompt + "\nBe polite.")
///     }
/// }
///
/// assert_eq!(Polite.hooks(), HookSet::REPLY | HookSet::SYSTEM_PROMPT);
/// assert_eq!(Polite.key().unwrap().as_str(), "Polite");
/// ```
///
/// A hook takes `&self`, or `self: Arc<Self>` to move the layer into a task. Its body stays as it is written: rustfmt,
/// rust-analyzer and the compiler's messages work in it. A hook may have a `#[cfg]`, its parameters may be patterns, the
/// layer may have generic parameters. A misspelt hook is an error that names the one that was meant.
///
/// # What is written for you
/// - the trait's methods: each returns one boxed `'static` future, which owns the layer;
/// - `hooks()`: those in the block, so that the agent leaves the layer out of all other hooks;
/// - `name()` and `key()`: the type's bare name.
///
/// What stands in the block wins: `key`, `hooks`, `name` and `tools` may be written by hand, and so may hooks that box
/// their future themselves (`fn on_reply(self: Arc<Self>, …) -> BoxFuture<'static, Result<Msg>>`).
///
/// The same attribute works on `impl ToolMiddleware for …`, whose one hook is `on_tool_call`.
///
/// The block names no path of Cepa, so it works whatever the crate is called in your `Cargo.toml`.
#[proc_macro_attribute]
pub fn middleware(options: TokenStream, block: TokenStream) -> TokenStream {
    middleware::expand(options.into(), block.into()).into()
}

/// Makes a function a tool that an agent can call.
///
/// The function's name becomes a value that implements `Tool`: `Agent::builder(…).tool(search_files)`. The function
/// itself stays callable as `search_files::run(…)`. The doc comment is what the model is told of the tool, the comments at
/// the arguments are what it is told of these.
///
/// ```
/// # use onion as cepa_core;
/// use std::io;
/// use cepa_core::{Tool, ToolCx, tool};
///
/// /// Finds the lines of a file that hold a text.
/// #[tool(read_only)]
/// async fn search_file(
///     /// The file's path.
///     path: String,
///     /// What to look for.
///     text: String,
///     /// How many lines to give at most.
///     limit: Option<usize>,
/// ) -> io::Result<String> {
///     let content = std::fs::read_to_string(path)?;
///     let found = content.lines().filter(|line| line.contains(&text));
///     Ok(found.take(limit.unwrap_or(20)).collect::<Vec<_>>().join("\n"))
/// }
///
/// assert_eq!(search_file.name(), "search_file");
/// assert_eq!(search_file.input_schema()["required"], cepa_core::serde_json::json!(["path", "text"]));
/// ```
///
/// # Arguments
/// What the model gives is read by `serde` and described by `schemars`, so each type must derive `Deserialize` and
/// `JsonSchema`:
///
/// - **none**;
/// - **several**: each is an argument under its own name. `#[serde(…)]` and `#[schemars(…)]` work on them as on the fields of
///   a struct (`#[serde(default)]`);
/// - **one struct**: its fields are the arguments. One argument of any other type is an argument under its own name;
/// - beside them, anywhere, a `ToolCx`: to stream (`cx.emit(chunk).await`), for the agent's state and the caller's context.
///
/// What does not fit is told to the model by the name of the argument, and the function does not run.
///
/// # Result
/// A text, `()`, a `serde_json::Value`, a `ToolResponse` or what has a `From` for it; or a `Result` of these whose error is a
/// `ToolError` or any `std::error::Error`. An error is told to the model; `ToolError::developer` ends the reply.
///
/// # Plain functions
/// A function that is not `async` may block: it runs on a thread for that (`tokio::task::spawn_blocking`), and a panic in it
/// becomes an error that the model is told. Once begun it runs to its end, also when the reply is interrupted.
///
/// # Options
/// | option | |
/// |---|---|
/// | `name = "…"` | what the model calls it by, if not the function's name |
/// | `description = "…"` | what the model is told, if not the doc comment |
/// | `read_only` | it changes nothing: calls need no permission |
/// | `idempotent` | twice does no more than once: a failed call may be tried again; what is `read_only` is so anyway |
/// | `sequential` | calls do not run beside others |
/// | `permission = "allow"`, `"ask"`, `"deny"` | what the tool itself says when no rule does; `"ask"` by default |
/// | `crate = path` | where Cepa is, if it is not among the package's dependencies |
///
/// # A name like a value's
/// As the name is a unit struct, no variable of the same module can have it (`let search_file = …`); those in the
/// function's own body can.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    tool::expand(options.into(), function.into()).into()
}
