//! The page.

use std::collections::VecDeque;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use sha2::{Digest as _, Sha256};

use super::reply::Shown;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of these replies, the newest first, out of so many.
pub(super) fn page(replies: &VecDeque<Shown>, count: usize) -> String {
    let mut page =
        String::with_capacity(replies.iter().map(|reply| reply.len() + 100).sum::<usize>() + (32 << 10));
    for (at, part) in PAGE.split("{{").enumerate() {
        // What is filled in is not looked at again: braces in it stay braces.
        let (name, rest) = part.split_once("}}").filter(|_| at > 0).unwrap_or(("", part));
        match name {
            "script_hash" => page.push_str(&BASE64_STANDARD.encode(Sha256::digest(SCRIPT))),
            "style" => page.push_str(STYLE),
            "script" => page.push_str(SCRIPT),
            "count" => page.push_str(&counted(replies.len(), count)),
            "replies" => {
                replies.iter().enumerate().for_each(|(at, reply)| reply.write(at == 0, &mut page));
            }
            _ => {}
        }
        page.push_str(rest);
    }
    page
}

fn counted(shown: usize, count: usize) -> String {
    match (shown, count) {
        (1, 1) => "One reply".to_owned(),
        (shown, count) if shown == count => format!("{count} replies, the newest first"),
        (shown, count) => format!("The last {shown} of {count} replies, the newest first"),
    }
}
