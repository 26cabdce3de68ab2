//! What the context tells the model already.

use std::sync::Arc;

use jiff::Timestamp;

use crate::{
    agent::{clock, config::InjectionConfig},
    id::Id,
    message::{ContentBlock, HintBlock, Msg, Role},
};

/// What the context tells the model already.
pub(super) struct Known<'a> {
    /// The latest hint that tells the time.
    time: Option<&'a HintBlock>,
    /// Whether it tells of the tasks, by a hint or by calls of the task tools.
    pub(super) tasks: bool,
}

impl<'a> Known<'a> {
    /// Looks through the context, from its end until everything was found: a few blocks as a rule. The tasks are not
    /// looked for where there are none.
    pub(super) fn scan(context: &'a [Arc<Msg>], config: &InjectionConfig, look_for_tasks: bool) -> Self {
        let mut known = Self { time: None, tasks: !look_for_tasks };
        let own = context.iter().rev().filter(|msg| msg.role == Role::Assistant);
        for block in own.flat_map(|msg| msg.content.iter().rev()) {
            match block {
                ContentBlock::Hint(hint) if hint.source.as_ref() == Some(&config.injection_source) => {
                    known.add(hint);
                }
                ContentBlock::ToolCall(call) if !known.tasks => {
                    known.tasks = config.task_tool_names.iter().any(|name| **name == *call.name);
                }
                _ => continue,
            }
            if known.tasks && known.time.is_some() {
                break;
            }
        }
        known
    }

    fn add(&mut self, hint: &'a HintBlock) {
        let text = hint.hint.text();
        self.tasks |= text.contains("<tasks>");
        if self.time.is_none() && text.contains("<current-time>") {
            self.time = Some(hint);
        }
    }

    /// Whether the model should be told the time: it was not told, or longer ago than the interval, or what it was
    /// told does not read as a time of the past. A hint that was `read` before is not read again: that is most of the
    /// work, and would be done every round.
    pub(super) fn time_is_due(
        &self,
        config: &InjectionConfig,
        now: Timestamp,
        read: &mut Option<Read>,
    ) -> bool {
        let Some(hint) = self.time else { return true };
        if read.as_ref().is_none_or(|read| read.hint != hint.id) {
            *read = told_at(hint, config, now).map(|told| Read { hint: hint.id.clone(), told });
        }
        let Some(Read { told, .. }) = *read else { return true };
        let hours = now.duration_since(told).as_secs_f64() / 3600.0;
        !(0.0..=config.time_interval).contains(&hours)
    }
}

/// When a hint told the time.
pub(in crate::agent) struct Read {
    hint: Id,
    told: Timestamp,
}

fn told_at(hint: &HintBlock, config: &InjectionConfig, now: Timestamp) -> Option<Timestamp> {
    let text = hint.hint.text();
    let zone = between(&text, "<timezone>", "</timezone>").unwrap_or(&config.timezone);
    let time = between(&text, "<current-time>", "</current-time>")?;
    clock::read(&config.time_format, time, zone, now)
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    let (inner, _) = rest.split_once(end)?;
    Some(inner.trim())
}
