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

/// The one that sessions are exchanged with.
pub(crate) const AGENTSCOPE: &str = "agentscope==2.0.11";

/// What tests need, each with the variable by which they are told of its interpreter. *oteltap* is a collector,
/// *pocketsphinx* recognises speech.
pub(crate) const PACKAGES: [(&str, &str); 3] = [
    (AGENTSCOPE, "CEPA_PYTHON"),
    ("oteltap==1.0.0", "CEPA_OTELTAP"),
    ("pocketsphinx==5.1.1", "CEPA_POCKETSPHINX"),
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

/// A virtual environment with one package, made or not.
pub(crate) struct Environment {
    package: &'static str,
    folder: PathBuf,
}

impl Environment {
    /// Of a package with its version, as `pip` takes it.
    pub(crate) fn of(package: &'static str) -> Result<Self> {
        let cache = match std::env::var_os(CACHE) {
            Some(cache) => PathBuf::from(cache),
            None => {
                let home = std::env::var_os("HOME")
                    .ok_or_else(|| format!("neither {CACHE} nor HOME is set: where should {package} go?"))?;
                Path::new(&home).join(".cache/cepa-test")
            }
        };
        Ok(Self { package, folder: cache.join(package.replace("==", "-")) })
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
        eprintln!("installing {} into {}", self.package, self.folder.display());
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
        let module = self.package.split('=').next().unwrap_or(self.package);
        let mut import = Command::new(self.python());
        import.arg("-c").arg(format!("import {module}"));
        import
    }

    fn make(&self) -> Command {
        let mut make = Command::new("python3");
        make.args(["-m", "venv"]).arg(&self.folder);
        make
    }

    fn install(&self) -> Command {
        let mut install = Command::new(self.python());
        let words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", self.package];
        install.args(words);
        install
    }
}
