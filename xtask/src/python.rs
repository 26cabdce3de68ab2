//! `python`: virtual environments with published Python packages, for what is compared with them.
//!
//! They lie under `~/.cache/cepa-test`, or where `CEPA_TEST_CACHE` says, one per package and version, and are made
//! where they are missing.

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use crate::{
    Arguments, Result,
    command::{complaint_of, run_visibly, shown, succeeds},
};

/// A package as `pip` takes it, and what it needs beside it.
#[derive(Clone, Copy)]
pub(crate) struct Package {
    /// With its version.
    pub(crate) name: &'static str,
    /// What its own metadata leave out, or leave open too far.
    others: &'static [&'static str],
    /// What is imported.
    module: &'static str,
}

/// The one that sessions are exchanged with.
pub(crate) const AGENTSCOPE: Package =
    Package { name: "agentscope==2.0.11", others: &[], module: "agentscope" };
pub(crate) const LANGCHAIN: Package = Package { name: "langchain==1.5.0", others: &[], module: "langchain" };
/// Searches vectors; numpy and usearch beside it, and what says how many threads they use.
pub(crate) const FAISS: Package =
    Package { name: "faiss-cpu==1.15.1", others: &["numpy", "usearch", "threadpoolctl"], module: "faiss" };
/// A collector.
const OTELTAP: Package = Package { name: "oteltap==1.0.0", others: &[], module: "oteltap" };
/// Recognises speech.
const POCKETSPHINX: Package = Package { name: "pocketsphinx==5.1.1", others: &[], module: "pocketsphinx" };
/// Remembers; its server is a script of the tests.
const MEM0: Package = Package { name: "mem0ai==2.2.1", others: &["fastapi", "uvicorn"], module: "mem0" };
/// Remembers; a service of its own.
const REME: Package = Package {
    name: "reme-ai==0.4.2.0",
    others: &["agentscope==2.0.10", "fastmcp>=3.1,<4", "mcp<2"],
    module: "reme",
};
/// PostgreSQL with pgvector.
const PGVECTOR: Package = Package { name: "pgserver==0.1.4", others: &[], module: "pgserver" };
/// A store of vectors.
const CHROMA: Package = Package { name: "chromadb==1.5.9", others: &[], module: "chromadb" };
/// Another, in its client alone.
const QDRANT: Package = Package { name: "qdrant-client==1.20.0", others: &[], module: "qdrant_client" };

/// What tests need, each with the variable by which they are told of its interpreter.
pub(crate) const PACKAGES: [(Package, &str); 8] = [
    (AGENTSCOPE, "CEPA_PYTHON"),
    (OTELTAP, "CEPA_OTELTAP"),
    (POCKETSPHINX, "CEPA_POCKETSPHINX"),
    (MEM0, "CEPA_MEM0"),
    (REME, "CEPA_REME"),
    (PGVECTOR, "CEPA_PGVECTOR"),
    (CHROMA, "CEPA_CHROMA"),
    (QDRANT, "CEPA_QDRANT"),
];

/// Where the environments lie.
const CACHE: &str = "CEPA_TEST_CACHE";

/// Makes the environments where they are missing and prints how tests are told of them.
pub(crate) fn run(arguments: Arguments) -> Result<ExitCode> {
    arguments.end()?;
    for (package, variable) in PACKAGES {
        let python = Environment::of(package)?.ready()?;
        println!("export {variable}={}", python.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Where all of it lies: the environments, and what else is got for the tests.
pub(crate) fn cache(what: &str) -> Result<PathBuf> {
    match std::env::var_os(CACHE) {
        Some(cache) => Ok(PathBuf::from(cache)),
        None => {
            let home = std::env::var_os("HOME")
                .ok_or_else(|| format!("neither {CACHE} nor HOME is set: where should {what} go?"))?;
            Ok(Path::new(&home).join(".cache/cepa-test"))
        }
    }
}

/// A virtual environment with one package, made or not.
pub(crate) struct Environment {
    package: Package,
    folder: PathBuf,
}

impl Environment {
    /// Of a package.
    pub(crate) fn of(package: Package) -> Result<Self> {
        Ok(Self { package, folder: cache(package.name)?.join(package.name.replace("==", "-")) })
    }

    /// Its interpreter.
    pub(crate) fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// Its interpreter, once the package can be imported; what is missing for that is installed visibly.
    pub(crate) fn ready(&self) -> Result<PathBuf> {
        if succeeds(self.import()) {
            return Ok(self.python());
        }
        eprintln!("installing {} into {}", self.package.name, self.folder.display());
        for step in [self.make(), self.install()] {
            let command = shown(&step);
            if run_visibly(step)? != ExitCode::SUCCESS {
                return Err(format!("`{command}` failed").into());
            }
        }
        Ok(self.python())
    }

    /// What is left to do until the package can be imported, if anything.
    ///
    /// # Errors
    /// Why it cannot be done here: no Python, or no way to the package.
    pub(crate) fn missing(&self) -> Result<Option<Command>> {
        if succeeds(self.import()) {
            return Ok(None);
        }
        let mut python = Command::new("python3");
        python.arg("--version");
        let mut reach = self.install();
        reach.args(["--dry-run", "--no-deps"]);
        let needed = [
            (python, "there is no python3"),
            (self.make(), "python3 makes no virtual environment"),
            (reach, "pip does not reach the package"),
        ];
        for (command, otherwise) in needed {
            if let Some(complaint) = complaint_of(command) {
                return Err(format!("{otherwise}: {complaint}").into());
            }
        }
        Ok(Some(self.install()))
    }

    /// Succeeds once everything is there.
    pub(crate) fn import(&self) -> Command {
        let mut import = Command::new(self.python());
        import.arg("-c").arg(format!("import {}", self.package.module));
        import
    }

    fn make(&self) -> Command {
        let mut make = Command::new("python3");
        make.args(["-m", "venv"]).arg(&self.folder);
        make
    }

    fn install(&self) -> Command {
        let mut install = Command::new(self.python());
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", self.package.name]);
        install.args(self.package.others);
        install
    }
}
