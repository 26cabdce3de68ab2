//! Taking old images out of the context.

use std::sync::Arc;

use crate::{
    agent::{input::reminder_name, scope::ReplyScope},
    error::Result,
    id::Id,
    message::{ContentBlock, DataBlock, HintBlock, Msg, OutputBlock, Role, TextBlock, TextOrBlocks},
    texts::{self, fill},
};

/// An image in the context.
struct Place {
    message: usize,
    block: usize,
    /// Where it is in a tool's output or a hint.
    inner: Option<usize>,
    id: Id,
}

impl ReplyScope {
    /// Puts a reminder in the place of the oldest images over the limit.
    pub(super) async fn limit_images(&self, limit: usize) -> Result<()> {
        let (context, places) = {
            let state = self.state()?;
            let mut places = images(&state.context);
            let over = places.len().saturating_sub(limit);
            if over == 0 {
                return Ok(());
            }
            places.truncate(over);
            (state.context.clone(), places)
        };
        let mut reminders = Vec::with_capacity(places.len());
        for place in places {
            if let Some(image) = place.image(&context) {
                reminders.push((self.image_reminder(image).await?, place));
            }
        }
        // So that the messages are changed in place rather than copied with their images.
        drop(context);
        let mut state = self.state()?;
        for (reminder, place) in reminders {
            place.replace(&mut state.context, reminder);
        }
        Ok(())
    }

    async fn image_reminder(&self, image: &DataBlock) -> Result<String> {
        let name = reminder_name(image);
        Ok(match self.kept_at(image).await? {
            Some(url) => fill(texts::REMINDER_IMAGE_OFFLOADED, &[("name", &name), ("url", &url)]),
            None => fill(texts::REMINDER_IMAGE_REMOVED, &[("name", &name)]),
        })
    }
}

/// All images, from the oldest to the newest.
fn images(context: &[Arc<Msg>]) -> Vec<Place> {
    let mut places = Vec::new();
    for (message, msg) in context.iter().enumerate() {
        for (block, content) in msg.content.iter().enumerate() {
            if let ContentBlock::Data(data) = content {
                if data.is_image() {
                    places.push(Place { message, block, inner: None, id: data.id.clone() });
                }
                continue;
            }
            for (inner, part) in inner_blocks(content).iter().enumerate() {
                if let OutputBlock::Data(data) = part
                    && data.is_image()
                {
                    places.push(Place { message, block, inner: Some(inner), id: data.id.clone() });
                }
            }
        }
    }
    places
}

/// The blocks in a tool's output or a hint.
fn inner_blocks(block: &ContentBlock) -> &[OutputBlock] {
    match block {
        ContentBlock::ToolResult(result) => blocks_of(&result.output),
        ContentBlock::Hint(hint) => blocks_of(&hint.hint),
        _ => &[],
    }
}

fn blocks_of(content: &TextOrBlocks) -> &[OutputBlock] {
    match content {
        TextOrBlocks::Text(_) => &[],
        TextOrBlocks::Blocks(blocks) => blocks,
    }
}

impl Place {
    fn image<'a>(&self, context: &'a [Arc<Msg>]) -> Option<&'a DataBlock> {
        let block = context.get(self.message)?.content.get(self.block)?;
        let image = match (self.inner, block) {
            (None, ContentBlock::Data(image)) => image,
            (Some(inner), block) => match inner_blocks(block).get(inner)? {
                OutputBlock::Data(image) => image,
                OutputBlock::Text(_) => return None,
            },
            _ => return None,
        };
        Some(image).filter(|image| image.id == self.id)
    }

    /// Puts the reminder in, if the image is still there. A user's message may hold text only, and so may what is in
    /// an output or a hint.
    fn replace(&self, context: &mut [Arc<Msg>], reminder: String) {
        if self.image(context).is_none() {
            return;
        }
        let msg = Arc::make_mut(&mut context[self.message]);
        let is_user = msg.role == Role::User;
        match (&mut msg.content[self.block], self.inner) {
            (ContentBlock::ToolResult(result), Some(inner)) => put_inner(&mut result.output, inner, reminder),
            (ContentBlock::Hint(hint), Some(inner)) => put_inner(&mut hint.hint, inner, reminder),
            (block, _) if is_user => *block = TextBlock::new(reminder).into(),
            (block, _) => *block = HintBlock::new(reminder).into(),
        }
    }
}

fn put_inner(content: &mut TextOrBlocks, at: usize, reminder: String) {
    if let TextOrBlocks::Blocks(blocks) = content {
        blocks[at] = TextBlock::new(reminder).into();
    }
}
