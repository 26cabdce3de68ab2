//! Runs Cepa against recorded behaviour: scripted agents, what is done to them, and what must come out.
//!
//! A case file is read ([`case`]), its agent is built of scripted parts ([`world`], [`models`], [`tools`],
//! [`layers`]), its calls are made on a paused clock ([`run`]), what came out is put in the words of the case files
//! ([`normalise`], [`tags`]) and compared ([`compare`]).
//!
//! As a library it runs one case and gives what came out as a [`Recording`], for tests that say in their own words
//! what is right:
//!
//! ```
//! use cepa_conformance::{Case, record};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let case = Case::load(concat!(env!("CARGO_MANIFEST_DIR"), "/cases/basic__list_input.json"))?;
//! let recording = record(case)?;
//! assert_eq!(recording.call(0).event_types().last(), Some(&"REPLY_END"));
//! recording.check_pairing()?;
//! # Ok(()) }
//! ```

mod arguments;
mod case;
pub mod command;
mod compare;
mod error;
mod exempt;
mod files;
mod isolated;
mod layers;
mod log;
mod models;
mod normalise;
mod offloader;
mod pairing;
mod recording;
mod report;
mod run;
mod self_check;
mod spans;
mod tags;
mod tools;
mod workdir;
mod world;

pub use self::{
    case::{Case, CaseError},
    error::RunError,
    isolated::Failure,
    pairing::Unpaired,
    recording::{CallRecord, Recording, record, text_of},
};
