//! The tools, as a model uses them.

use cepa_core::{
    serde_json::json,
    testing::{Answer, ScriptedModel},
};

use crate::support::{Memories, builder, note, prompt};

#[tokio::test]
async fn what_one_session_saves_the_next_one_knows_without_anybody_being_asked() {
    let memories = Memories::new();
    let layer = || memories.builder().retrieval(false).build().unwrap();
    let model = ScriptedModel::new([
        Answer::new().tool_call("memory_write", note("tea.md", "Likes {tea}: green.")),
        "Noted.".into(),
    ]);
    let reply = builder(&model).middleware(layer()).build().unwrap().reply("I like green tea").await.unwrap();
    assert_eq!(reply.text().as_deref(), Some("Noted."));
    assert!(prompt(&model.requests()[0]).ends_with(cepa_memory::texts::MEMORY_EMPTY));

    let model = ScriptedModel::new(["Green tea?"]);
    builder(&model).middleware(layer()).build().unwrap().reply("A drink, please").await.unwrap();
    let prompt = prompt(&model.requests()[0]);
    assert!(prompt.ends_with("## MEMORY.md\n- [A note](tea.md) — When it is asked for\n"), "{prompt}");
    assert_eq!(
        memories.text("tea.md"),
        "---\nname: A note\ndescription: When it is asked for\ntype: user\n---\n\nLikes {tea}: green.\n"
    );
}

#[test]
fn memories_are_read_searched_changed_and_deleted_with_their_lines_of_the_index() {
    let memories = Memories::with(&[("MEMORY.md", "# Mine\n")]);
    memories.call("memory_write", note("a/b.md", "One\nTwo\nThree")).unwrap();
    memories.call("memory_write", note("c.md", "Four")).unwrap();
    let index =
        "# Mine\n- [A note](a/b.md) — When it is asked for\n- [A note](c.md) — When it is asked for\n";
    assert_eq!(memories.text("MEMORY.md"), index);

    let read = |offset: usize, limit: usize| {
        memories.call("memory_read", json!({"file": "a/b.md", "offset": offset, "limit": limit})).unwrap()
    };
    assert_eq!(read(7, 1), "One\n[2 more lines: go on with offset 8]");
    assert_eq!(read(8, 9), "Two\nThree\n");
    // A whole path, as prompts and hints have it.
    let path = memories.path("c.md").display().to_string();
    assert!(memories.call("memory_read", json!({"file": path})).unwrap().ends_with("\n\nFour\n"));

    assert_eq!(memories.call("memory_search", json!({"text": "THREE"})).unwrap(), "a/b.md:9: Three");
    assert_eq!(memories.call("memory_search", json!({"text": "five"})).unwrap(), "No memory holds that.");

    let edit = |old: &str, new: &str| {
        memories.call("memory_edit", json!({"file": "c.md", "old_text": old, "new_text": new}))
    };
    edit("asked for", "needed").unwrap();
    assert_eq!(
        memories.text("MEMORY.md"),
        index.replace("(c.md) — When it is asked for", "(c.md) — When it is needed")
    );
    assert!(edit("nowhere", "x").unwrap_err().contains("0 times"));
    assert!(edit("e", "x").unwrap_err().contains("read the file"));

    memories.call("memory_delete", json!({"file": "a/b.md"})).unwrap();
    assert_eq!(memories.text("MEMORY.md"), "# Mine\n- [A note](c.md) — When it is needed\n");
    assert!(!memories.path("a/b.md").exists());
    assert!(memories.call("memory_read", json!({"file": "a/b.md"})).unwrap_err().contains("memory_list"));
    assert!(
        memories.call("memory_delete", json!({"file": "MEMORY.md"})).unwrap_err().contains("memory_edit")
    );
}

#[test]
fn the_index_is_changed_by_hand_too_and_keeps_what_somebody_wrote() {
    let memories = Memories::new();
    memories.call("memory_write", note("a.md", "A")).unwrap();
    let edit = json!({"file": "MEMORY.md", "old_text": "- [A note]", "new_text": "## Drinks\n- [Tea]"});
    memories.call("memory_edit", edit).unwrap();
    memories.call("memory_write", note("b.md", "B")).unwrap();
    assert_eq!(
        memories.text("MEMORY.md"),
        "## Drinks\n- [Tea](a.md) — When it is asked for\n- [A note](b.md) — When it is asked for\n"
    );
}

#[test]
fn what_is_too_long_or_no_text_is_not_written_over_by_halves() {
    let memories = Memories::new();
    let long = "x".repeat(2 << 20);
    assert!(memories.call("memory_write", note("a.md", &long)).unwrap_err().contains("split it"));
    assert!(!memories.path("a.md").exists());
    memories.put("b.md", b"one \xff two");
    let edit = json!({"file": "b.md", "old_text": "one", "new_text": "1"});
    assert!(memories.call("memory_edit", edit).unwrap_err().contains("UTF-8"));
    assert_eq!(std::fs::read(memories.path("b.md")).unwrap(), b"one \xff two");
    memories.put("c.md", &long);
    assert!(memories.call("memory_read", json!({"file": "c.md"})).unwrap_err().contains("split it"));
    memories.call("memory_delete", json!({"file": "c.md"})).unwrap();
}
