//! Nothing leads out of the folder.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use cepa_core::{serde_json::json, testing::ScriptedModel};

use crate::support::{Memories, Tools, builder, choice, note, prompt};

const SECRET: &str = "SECRET";
/// How often it is tried while a folder is swapped.
const ROUNDS: usize = 300;

/// Memories with a secret beside them.
fn memories() -> Memories {
    let memories = Memories::with(&[("a.md", "A")]);
    memories.put("../outside/secret.md", SECRET);
    memories
}

/// What is outside, by name.
fn outside(memories: &Memories) -> Vec<String> {
    let entries = fs::read_dir(memories.path("../outside")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn names_do_not_lead_out() {
    let memories = memories();
    let absolute = fs::canonicalize(memories.path("../outside/secret.md")).unwrap().display().to_string();
    let through = format!("{}/../outside/secret.md", memories.root().display());
    for name in ["../outside/secret.md", "x/../../outside/secret.md", &absolute, &through] {
        let edit = json!({"file": name, "old_text": SECRET, "new_text": "x"});
        for said in [
            memories.call("memory_read", json!({"file": name})),
            memories.call("memory_write", note(name, "x")),
            memories.call("memory_edit", edit),
            memories.call("memory_delete", json!({"file": name})),
        ] {
            assert!(said.unwrap_err().contains("is no name of a memory"), "{name}");
        }
    }
    assert_eq!(memories.text("../outside/secret.md"), SECRET);
}

#[test]
fn links_do_not_lead_out() {
    let memories = memories();
    symlink("../outside/secret.md", memories.path("file.md")).unwrap();
    symlink(memories.path("../outside"), memories.path("folder")).unwrap();
    symlink("../outside/new", memories.path("dangling.md")).unwrap();
    for name in ["file.md", "folder/secret.md", "dangling.md"] {
        let said = memories.call("memory_read", json!({"file": name})).unwrap_err();
        assert!(!said.contains(SECRET), "{name}: {said}");
        let edit = json!({"file": name, "old_text": SECRET, "new_text": "x"});
        memories.call("memory_edit", edit).unwrap_err();
    }
    memories.call("memory_write", note("folder/new.md", "x")).unwrap_err();
    memories.call("memory_delete", json!({"file": "folder/secret.md"})).unwrap_err();
    assert!(!memories.call("memory_list", json!({})).unwrap().contains("file.md"));
    assert_eq!(memories.call("memory_search", json!({"text": SECRET})).unwrap(), "No memory holds that.");
    // What is written takes the place of a link, not of what the link leads to.
    memories.call("memory_write", note("file.md", "mine")).unwrap();
    assert!(memories.text("file.md").contains("mine"));
    assert_eq!(memories.text("../outside/secret.md"), SECRET);
    assert_eq!(outside(&memories), ["secret.md"]);
}

#[test]
fn the_lock_and_the_index_may_be_links_and_do_not_lead_out_either() {
    let memories = memories();
    symlink("../outside/lock", memories.path(".lock")).unwrap();
    memories.call("memory_write", note("b.md", "B")).unwrap_err();
    fs::remove_file(memories.path(".lock")).unwrap();
    symlink("../outside/secret.md", memories.path("MEMORY.md")).unwrap();
    memories.call("memory_read", json!({"file": "MEMORY.md"})).unwrap_err();
    assert_eq!(memories.text("../outside/secret.md"), SECRET);
    assert_eq!(outside(&memories), ["secret.md"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_behind_a_link_is_neither_in_the_prompt_nor_chosen() {
    let memories = memories();
    symlink("../outside/secret.md", memories.path("MEMORY.md")).unwrap();
    symlink("../outside/secret.md", memories.path("link.md")).unwrap();
    let selector = ScriptedModel::new([choice(&["link.md", "a.md"])]);
    let minute = std::time::Duration::from_secs(60);
    let layer = memories.builder().retrieval_model(selector.clone()).wait_up_to(minute).build().unwrap();
    let model = ScriptedModel::new(["Hello."]);
    builder(&model).middleware(layer).build().unwrap().reply("Hi").await.unwrap();
    assert!(prompt(&model.requests()[0]).ends_with(cepa_memory::texts::MEMORY_UNREADABLE));
    for request in model.requests().iter().chain(&selector.requests()) {
        assert!(!format!("{request:?}").contains(SECRET));
    }
}

#[test]
fn a_folder_that_is_swapped_for_a_link_meanwhile_does_not_lead_out() {
    let memories = memories();
    memories.put("real/note.md", "mine");
    symlink(memories.path("../outside"), memories.path("link")).unwrap();
    memories.put("../outside/note.md", SECRET);
    let tools = Tools::of(&memories.root());
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let [folder, real, link] = ["folder", "real", "link"].map(|name| memories.path(name));
            while !done.load(Relaxed) {
                for way in [&real, &link] {
                    if fs::rename(way, &folder).is_ok() {
                        fs::rename(&folder, way).unwrap();
                    } else {
                        // A memory was written where there was nothing at the moment.
                        _ = fs::remove_dir_all(&folder);
                    }
                }
            }
        });
        for _ in 0..ROUNDS {
            if let Ok(read) = tools.call("memory_read", json!({"file": "folder/note.md"})) {
                assert_eq!(read, "mine");
            }
            // It fails, or changes what is inside.
            let edit = json!({"file": "folder/note.md", "old_text": "mine", "new_text": "mine"});
            _ = tools.call("memory_edit", edit);
            _ = tools.call("memory_delete", json!({"file": "folder/secret.md"}));
            assert!(!tools.call("memory_search", json!({"text": SECRET})).unwrap().contains(SECRET));
        }
        done.store(true, Relaxed);
    });
    let mut outside = outside(&memories);
    outside.sort();
    assert_eq!(outside, ["note.md", "secret.md"]);
}
