//! What the benchmark of retrieval reads: the FAQs of Perl, Python and Debian, out of Debian's packages.

use std::{
    fs,
    path::Path,
    process::{Command, ExitCode},
};

use crate::{Result, command::run_visibly, fetch, python};

/// The packages, the files in them, and how these are named.
const SCRIPT: &str = r#"
set -eu
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
apt-get download -qq perl-doc python3.11-doc debian-faq
for package in *.deb; do dpkg-deb -x "$package" all; done
mkdir -p "$1.part"
cp all/usr/share/perl/*/pod/perlfaq[1-9].pod "$1.part/"
for file in all/usr/share/doc/python3.11/html/_sources/faq/*.rst.txt; do
    cp "$file" "$1.part/python-$(basename "$file" .rst.txt).rst"
done
gzip -dc all/usr/share/doc/debian/FAQ/debian-faq.en.txt.gz > "$1.part/debian.txt"
mv "$1.part" "$1"
"#;

/// Gets what is missing and tells the benchmark of it.
pub(super) fn prepare(bench: &mut Command) -> Result {
    let minilm = fetch::folder()?;
    for command in fetch::missing()? {
        done(command, "the embedding model's files could not be fetched")?;
    }
    let faqs = python::cache("the questions")?.join("faq");
    if !faqs.is_dir() {
        fs::create_dir_all(faqs.parent().unwrap_or(Path::new(".")))?;
        let mut get = Command::new("sh");
        get.args(["-c", SCRIPT, "faq"]).arg(&faqs);
        done(get, "the FAQs could not be fetched: it takes Debian 12, and `apt-get update` before")?;
    }
    bench.env(fetch::MINILM, minilm).env("CEPA_FAQ", faqs);
    Ok(())
}

fn done(command: Command, otherwise: &str) -> Result {
    match run_visibly(command)? {
        ExitCode::SUCCESS => Ok(()),
        _ => Err(otherwise.into()),
    }
}
