//! What a person sends.

use sidekicks_acp::schema::{ContentBlock, TextContent};

/// What a person sends: text, or content blocks of the protocol.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// The content, in order.
    pub content: Vec<ContentBlock>,
}

impl Prompt {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.content.iter().all(|block| matches!(block, ContentBlock::Text(text) if text.text.trim().is_empty()))
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self { content: vec![ContentBlock::Text(TextContent::new(text))] }
    }
}

impl From<Vec<ContentBlock>> for Prompt {
    fn from(content: Vec<ContentBlock>) -> Self {
        Self { content }
    }
}
