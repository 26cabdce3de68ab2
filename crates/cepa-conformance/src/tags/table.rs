//! Which text of Cepa has which tag.
//!
//! A text is the very constant that the library writes from; `{name}` stands for a value. Another layer's texts are
//! added here when the layer comes.

use cepa_budget::texts as budget;
use cepa_core::texts;
use cepa_memory::{mem0::texts as mem0, texts as memory};
use cepa_rag::texts as rag;
use cepa_router::texts as router;

/// Tags of texts that stand alone.
pub(super) const WHOLE: &[(&str, &str)] = &[
    ("<<hint:max_iters n={n}>>", texts::HINT_MAX_ITERS),
    ("<<hint:structured_output>>", texts::HINT_STRUCTURED_OUTPUT),
    ("<<hint:structured_output_forced>>", texts::HINT_STRUCTURED_OUTPUT_FORCED),
    ("<<hint:budget>>", budget::HINT_BUDGET),
    ("<<hint:budget_structured tool={tool_name}>>", budget::HINT_BUDGET_STRUCTURED),
    ("<<msg:waiting_outside>>", texts::MSG_WAITING_OUTSIDE),
    ("<<msg:interrupted>>", texts::MSG_INTERRUPTED),
    ("<<msg:structured_output_ready>>", texts::MSG_STRUCTURED_OUTPUT_READY),
    ("<<msg:max_iters_exceeded>>", texts::MSG_MAX_ITERS_EXCEEDED),
    ("<<tool:denied_by_user name={name}>>", texts::TOOL_DENIED_BY_USER),
    ("<<tool:denied_by_user name={name}>>", texts::TOOL_DENIED_BY_USER_BECAUSE),
    ("<<tool:structured_output_ok>>", texts::TOOL_STRUCTURED_OUTPUT_OK),
    ("<<tool:structured_output_not_required>>", texts::TOOL_STRUCTURED_OUTPUT_NOT_REQUIRED),
    ("<<tool:context_compressed>>", texts::TOOL_CONTEXT_COMPRESSED),
    ("<<tool:context_unchanged>>", texts::TOOL_CONTEXT_UNCHANGED),
    ("<<tool:groups_on {groups}>>", texts::TOOL_GROUPS_ON),
    ("<<tool_error:not_found name={name}>>", texts::ERROR_NOT_FOUND),
    ("<<tool_error:group_inactive name={name} group={group}>>", texts::ERROR_GROUP_INACTIVE),
    ("<<tool_error:schema name={name} path={path}>>", texts::ERROR_SCHEMA),
    ("<<tool_error:json_decode>>", texts::ERROR_JSON_DECODE),
    ("<<tool_error:json_nan>>", texts::ERROR_JSON_NAN),
    ("<<tool_error:json_not_object got={got}>>", texts::ERROR_JSON_NOT_OBJECT),
    ("<<tool_error:structured_output_invalid>>", texts::ERROR_STRUCTURED_OUTPUT_INVALID),
    ("<<tool_error:context_compression {error}>>", texts::ERROR_CONTEXT_COMPRESSION),
    ("<<permission:denied_by_rule name={name}>>", texts::PERMISSION_DENIED_BY_RULE),
    ("<<permission:denied_explore name={name}>>", texts::PERMISSION_DENIED_EXPLORE),
    ("<<permission:denied_dont_ask name={name}>>", texts::PERMISSION_DENIED_DONT_ASK),
    ("<<permission:required name={name}>>", texts::PERMISSION_REQUIRED),
    ("<<permission:granted name={name}>>", texts::PERMISSION_GRANTED),
    ("<<prompt:structured_output_instruction>>", texts::PROMPT_STRUCTURED_OUTPUT),
    ("<<prompt:compression>>", texts::PROMPT_COMPRESSION),
    ("<<hint:memories {memories}>>", memory::HINT_MEMORIES),
    ("<<tool:memory_empty>>", memory::TOOL_MEMORY_EMPTY),
    ("<<tool:memory_no_keywords>>", mem0::TOOL_MEMORY_NO_KEYWORDS),
    ("<<tool:memory_no_query>>", memory::TOOL_MEMORY_NO_QUERY),
    ("<<tool:memory_recorded rationale={rationale}>>", mem0::TOOL_MEMORY_RECORDED),
    ("<<tool_error:memory_search {error}>>", memory::TOOL_ERROR_MEMORY_SEARCH),
    ("<<tool_error:memory_add {error}>>", mem0::ERROR_MEMORY_ADD),
    ("<<tool_error:memory_add_empty>>", mem0::ERROR_MEMORY_ADD_EMPTY),
    ("<<hint:rag {context}>>", rag::HINT_RAG),
    ("<<prompt:model_router>>", router::PROMPT_MODEL_ROUTER),
    ("<<tool:rag_empty>>", rag::TOOL_RAG_EMPTY),
    ("<<tool_error:rag_search {error}>>", rag::TOOL_ERROR_RAG_SEARCH),
];

/// Tags of texts that stand inside of others.
pub(super) const INSIDE: &[(&str, &str)] = &[
    ("<<prompt:rerank>>", rag::RERANK_TASK),
    ("<<prompt:agentic_memory>>", memory::PROMPT_AGENTIC_MEMORY),
    ("<<agentic_memory:empty>>", memory::MEMORY_EMPTY),
    ("<<truncated lines={lines} offset={offset} file={file}>>", memory::MEMORY_TRUNCATED),
    ("<<memory_file age={age} path={path}>>\n{memory}", memory::MEMORY_FILE),
    ("<<tool:interrupted>>", texts::TOOL_INTERRUPTED),
    ("<<prompt:reme_tools>>", memory::PROMPT_REME_TOOLS),
    ("<<truncated offloaded={path}>>", texts::TRUNCATED_OFFLOADED),
    ("<<truncated>>", texts::TRUNCATED),
    ("<<prompt:mem0_tools>>", mem0::PROMPT_MEM0_TOOLS),
    ("<<summary:truncated>>", texts::SUMMARY_TRUNCATED),
    ("<<reminder:context_offloaded {path}>>", texts::REMINDER_CONTEXT_OFFLOADED),
    ("<<reminder:image_removed {name}>>", texts::REMINDER_IMAGE_REMOVED),
    ("<<reminder:image_offloaded {name}{url}>>", texts::REMINDER_IMAGE_OFFLOADED),
    ("<<reminder:file_saved {name}{url}>>", texts::REMINDER_FILE_SAVED),
    ("<<reminder:unsupported_file {name}{media_type}>>", texts::REMINDER_UNSUPPORTED_FILE),
];
