//! The same work on other frameworks, in the same run: only ratios within one run count.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Figures, read};
use crate::{
    Result,
    command::{run_captured, shown},
    python::{AGENTSCOPE, Environment, FAISS, LANGCHAIN, Package},
};

/// A framework, and where its figures stand.
struct Peer {
    title: &'static str,
    package: Package,
    script: &'static str,
    /// The works to run, and the file that each writes; nameless where the script has only one.
    works: &'static [(&'static str, &'static str)],
    figures: &'static [Counterpart],
}

/// Our figure, the file and the name of theirs (a path, where it is in an object), and how the ratio is noted.
type Counterpart = (&'static str, &'static str, &'static str, Noted);

/// Under which name a ratio is noted, if it is.
enum Noted {
    No,
    /// What they need, in what we need: the more the better.
    TheirsToOurs(&'static str),
    /// What we need, in what they need: the less the better.
    OursToTheirs(&'static str),
}

const ONION: &[Peer] = &[
    Peer {
        title: "AgentScope 2.0.11",
        package: AGENTSCOPE,
        script: "agentscope_bench.py",
        works: &[("w1", "as_w1"), ("w2", "as_w2")],
        figures: &[
            ("base_ns", "as_w1", "ns_per_event_base", Noted::No),
            ("run_ns", "as_w1", "ns_per_event_per_layer", Noted::No),
            ("tap_ns", "as_w1", "ns_per_event_per_layer", Noted::No),
            ("stream_ns", "as_w1", "ns_per_event_per_layer", Noted::No),
            ("round_us_0", "as_w2", "us_per_round_mw0_R50", Noted::No),
            ("round_us_6", "as_w2", "us_per_round_mw6_R50", Noted::No),
        ],
    },
    Peer {
        title: "LangChain 1.5.0",
        package: LANGCHAIN,
        script: "langchain_bench.py",
        works: &[("w1", "lc_w1"), ("w2", "lc_w2")],
        figures: &[
            ("base_ns", "lc_w1", "stream_ns_per_event_base", Noted::No),
            ("call_ns", "lc_w1", "ns_per_call_per_layer", Noted::No),
            ("round_us_0", "lc_w2", "us_per_round_mw0_R50", Noted::No),
            ("round_us_6", "lc_w2", "us_per_round_mw6_R50", Noted::No),
        ],
    },
];

const LOOP: &[Peer] = &[Peer {
    title: "AgentScope 2.0.11",
    package: AGENTSCOPE,
    script: "agentscope_bench.py",
    works: &[("w4", "as_w4")],
    figures: &[
        ("state_save_us", "as_w4", "dump_us", Noted::TheirsToOurs("state_save_ratio")),
        ("state_load_us", "as_w4", "load_us", Noted::TheirsToOurs("state_load_ratio")),
        // It has no way of saving what has changed alone.
        ("state_resave_us", "as_w4", "dump_us", Noted::TheirsToOurs("state_resave_ratio")),
    ],
}];

const TRACING: &[Peer] = &[Peer {
    title: "AgentScope 2.0.11",
    package: AGENTSCOPE,
    script: "agentscope_bench.py",
    works: &[("w6", "as_w6")],
    // Both with the content of messages, and beside no layer at all.
    figures: &[(
        "overhead_us",
        "as_w6",
        "overhead_us/tool1+text20",
        Noted::TheirsToOurs("ratio_to_agentscope"),
    )],
}];

/// One thread each, as ours. The first one's script runs them all.
const RAG: &[Peer] = &[
    Peer {
        title: "faiss 1.15.1",
        package: FAISS,
        script: "vectors_bench.py",
        works: &[("", "py_w5")],
        figures: &[(
            "exact_ms",
            "py_w5",
            "1t/faiss_flat_ip_top5/ms_cpu",
            Noted::OursToTheirs("ratio_to_faiss"),
        )],
    },
    Peer {
        title: "numpy",
        package: FAISS,
        script: "vectors_bench.py",
        works: &[],
        figures: &[
            ("read_ms", "py_w5", "1t/numpy_sum_read/ms_cpu", Noted::No),
            ("exact_ms", "py_w5", "1t/numpy_matvec_top5/ms_cpu", Noted::OursToTheirs("ratio_to_numpy")),
        ],
    },
    Peer {
        title: "usearch",
        package: FAISS,
        script: "vectors_bench.py",
        works: &[],
        figures: &[(
            "exact_ms",
            "py_w5",
            "1t/usearch_exact_ip_top5/ms_cpu",
            Noted::OursToTheirs("ratio_to_usearch"),
        )],
    },
];

/// Runs the scripts and prints what they need for each of our figures. Returns the ratios of times.
pub(super) fn compare(bench: &str, scripts: &Path, results: &Path, ours: &Figures) -> Result<Figures> {
    let mut ratios = Figures::new();
    let peers = match bench {
        "onion" => ONION,
        "loop" => LOOP,
        "tracing" => TRACING,
        "rag" => RAG,
        _ => return Err(format!("benchmark `{bench}` has no counterpart on other frameworks").into()),
    };
    let (scripts, results) = (scripts.canonicalize()?, absolute(results)?);
    fs::create_dir_all(&results)?;
    for peer in peers {
        let python = Environment::of(peer.package)?.ready()?;
        for (work, _) in peer.works {
            let mut run = Command::new(&python);
            run.arg(scripts.join(peer.script)).args((!work.is_empty()).then_some(work));
            run.env("BENCH_RESULTS", &results).current_dir(&results);
            // Where a machine has set them for itself, they slow numpy down.
            run.env_remove("OPENBLAS_CORETYPE").env_remove("OPENBLAS_L2_SIZE");
            let (success, output) =
                run_captured(&mut run, &results.join(peer.script).with_extension(format!("{work}.log")))?;
            if !success {
                return Err(format!("`{}` failed:\n{output}", shown(&run)).into());
            }
        }
        print_ratios(peer, &results, ours, &mut ratios)?;
    }
    Ok(ratios)
}

/// Prints how much more another framework needs, and notes it.
///
/// Their scripts report medians, so ours is one too.
fn print_ratios(peer: &Peer, results: &Path, ours: &Figures, ratios: &mut Figures) -> Result {
    println!("\n{:<20} {:>10} {:>18} {:>9}", "figure", "Cepa", peer.title, "ratio");
    for (name, file, theirs, noted) in peer.figures {
        let figures = read(&results.join(file).with_extension("json"))?;
        let (Some(own), Some(other)) = (number(ours, &format!("{name}_median")), number(&figures, theirs))
        else {
            return Err(format!("`{name}` or `{theirs}` of {file} is missing").into());
        };
        let ratio = other / own;
        println!("{name:<20} {own:>10.2} {other:>18.1} {ratio:>8.1}x");
        match noted {
            Noted::No => {}
            Noted::TheirsToOurs(name) => {
                ratios.insert((*name).to_owned(), ratio.into());
            }
            Noted::OursToTheirs(name) => {
                ratios.insert((*name).to_owned(), (own / other).into());
            }
        }
    }
    Ok(())
}

fn number(figures: &Figures, name: &str) -> Option<f64> {
    if let Some(figure) = figures.get(name) {
        return figure.as_f64();
    }
    let (object, name) = name.split_once('/')?;
    number(figures.get(object)?.as_object()?, name)
}

fn absolute(path: &Path) -> Result<PathBuf> {
    Ok(std::path::absolute(path)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_are_found_by_name_or_by_path() {
        let figures = json!({"us/tool": 1.5, "1t": {"search": {"ms": 8}}});
        let figures = figures.as_object().unwrap();
        let found =
            ["us/tool", "1t/search/ms", "1t/search", "2t/search/ms"].map(|name| number(figures, name));
        assert_eq!(found, [Some(1.5), Some(8.0), None, None]);
    }
}
