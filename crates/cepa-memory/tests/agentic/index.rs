//! The index names every memory, and nothing that somebody wrote is lost from it.

use cepa_core::{serde_json::json, testing::ScriptedModel};

use crate::support::{Memories, builder, note, prompt};

/// The index that a session is shown.
async fn shown(memories: &Memories, read_only: bool) -> String {
    let layer = memories.builder().retrieval(false).read_only(read_only).build().unwrap();
    let model = ScriptedModel::new(["Hello."]);
    builder(&model).middleware(layer).build().unwrap().reply("Hi").await.unwrap();
    prompt(&model.requests()[0]).split_once("\n## MEMORY.md\n").unwrap().1.to_owned()
}

#[test]
fn a_line_stays_that_links_another_memory_or_that_the_user_wrote() {
    let memories = Memories::new();
    let own = "Start with [A](a.md), then [B](b.md): the user's own line\n";
    memories.put("MEMORY.md", own);
    let mut b = note("b.md", "B");
    b["description"] = json!("Before B, see also [A](a.md)");
    memories.call("memory_write", b).unwrap();
    let of_b = "- [A note](b.md) — Before B, see also [A](a.md)\n";
    assert_eq!(memories.text("MEMORY.md"), format!("{own}{of_b}"));

    memories.call("memory_write", note("a.md", "A")).unwrap();
    let index = format!("{own}{of_b}- [A note](a.md) — When it is asked for\n");
    assert_eq!(memories.text("MEMORY.md"), index);
    let edit = json!({"file": "a.md", "old_text": "asked for", "new_text": "needed"});
    memories.call("memory_edit", edit).unwrap();
    assert_eq!(memories.text("MEMORY.md"), index.replace("asked for", "needed"));
    memories.call("memory_delete", json!({"file": "a.md"})).unwrap();
    assert_eq!(memories.text("MEMORY.md"), format!("{own}{of_b}"));
}

#[test]
fn bytes_and_line_ends_of_the_index_stay() {
    let memories = Memories::with(&[("a.md", "A")]);
    let before = b"# Caf\xe9 Zo\xeb\r\n- [A](a.md)\r\n";
    memories.put("MEMORY.md", before);
    memories.call("memory_write", note("b.md", "B")).unwrap();
    let added = "- [A note](b.md) — When it is asked for\r\n";
    assert_eq!(std::fs::read(memories.path("MEMORY.md")).unwrap(), [before, added.as_bytes()].concat());
}

#[tokio::test]
async fn what_is_put_there_or_taken_away_by_hand_is_in_the_index_of_the_next_session() {
    let memories = Memories::with(&[
        (
            "MEMORY.md",
            "# Mine\n- [Gone](gone.md) — it was here\n- [Kept](kept.md) — my words\n- [Web](x.html)\n- [Escaped](a%20b.md)\n",
        ),
        ("kept.md", "K"),
        ("hand.md", "---\nname: By hand\ndescription: d\n---\nx"),
        ("deep/er/Why (2024)?.md", "x"),
        (".hidden/no.md", "x"),
    ]);
    let whole = "# Mine\n- [Kept](kept.md) — my words\n- [Web](x.html)\n- [Escaped](a%20b.md)\n- [Why (2024)?](<deep/er/Why (2024)?.md>)\n\
                 - [By hand](hand.md) — d\n";
    // Whoever only reads is shown the truth, and writes nothing.
    let before = memories.text("MEMORY.md");
    assert_eq!(shown(&memories, true).await, whole);
    assert_eq!(memories.text("MEMORY.md"), before);
    assert!(!memories.path(".lock").exists());

    assert_eq!(shown(&memories, false).await, whole);
    assert_eq!(memories.text("MEMORY.md"), whole);
}

#[test]
fn a_write_completes_the_index_as_well() {
    let memories = Memories::with(&[("MEMORY.md", "- [Gone](gone.md)\n"), ("hand.md", "x")]);
    memories.call("memory_write", note("b.md", "B")).unwrap();
    assert_eq!(memories.text("MEMORY.md"), "- [A note](b.md) — When it is asked for\n- [hand](hand.md)\n");
}

#[cfg(unix)]
#[tokio::test]
async fn an_index_that_cannot_be_written_is_told_right_all_the_same() {
    use cepa_core::testing::Logged;

    let memories = Memories::with(&[("a.md", "A")]);
    // Nobody can lock what is a folder, not even root.
    std::fs::create_dir(memories.path(".lock")).unwrap();
    let warnings = Logged::warnings("cepa_memory");
    assert_eq!(shown(&memories, false).await, "- [a](a.md)\n");
    let told = warnings.take();
    assert!(told.len() == 1 && told[0].contains("cannot be completed"), "{told:?}");
}
