//! What a person sent.

use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource};

use super::directive::code;

/// A prompt: what was typed, and what came along.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Prompt {
    /// All text blocks, each on lines of its own.
    pub(super) text: String,
    /// A few words about each other block.
    pub(super) attachments: Vec<String>,
    /// Characters of text, attached text included.
    pub(super) size: usize,
}

impl Prompt {
    pub(super) fn new(blocks: Vec<ContentBlock>) -> Self {
        let mut prompt = Self::default();
        let mut texts = Vec::new();
        for block in blocks {
            match block {
                ContentBlock::Text(text) => {
                    prompt.size += text.text.chars().count();
                    texts.push(text.text);
                }
                ContentBlock::Resource(resource) => {
                    if let EmbeddedResourceResource::TextResourceContents(text) = &resource.resource {
                        prompt.size += text.text.chars().count();
                    }
                    prompt.attachments.push(embedded(&resource.resource));
                }
                other => prompt.attachments.push(describe(&other)),
            }
        }
        prompt.text = texts.join("\n");
        prompt
    }
}

fn describe(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Image(image) => format!("an image ({}, {})", code(&image.mime_type), decoded(&image.data)),
        ContentBlock::Audio(audio) => format!("a sound ({}, {})", code(&audio.mime_type), decoded(&audio.data)),
        ContentBlock::ResourceLink(link) => format!("a link to {} ({})", code(&link.name), code(&link.uri)),
        _ => "something I do not know".to_owned(),
    }
}

fn embedded(resource: &EmbeddedResourceResource) -> String {
    match resource {
        EmbeddedResourceResource::TextResourceContents(text) => {
            format!("the text of {} ({} lines)", code(&text.uri), text.text.lines().count())
        }
        EmbeddedResourceResource::BlobResourceContents(blob) => {
            format!("the data of {} ({})", code(&blob.uri), decoded(&blob.blob))
        }
        _ => "something I do not know".to_owned(),
    }
}

/// The size of the data behind some base64.
fn decoded(base64: &str) -> String {
    let digits = base64.trim_end_matches('=').len();
    format!("{} bytes", digits * 3 / 4)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_are_told_apart() {
        let blocks = json!([
            {"type": "text", "text": "look"},
            {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="},
            {"type": "audio", "mimeType": "audio/wav", "data": "aGVsbG8h"},
            {"type": "resource_link", "name": "a.txt", "uri": "file:///a.txt"},
            {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "1\n2"}},
            {"type": "resource", "resource": {"uri": "file:///c", "blob": "aGk="}},
            {"type": "text", "text": "run: ls"},
        ]);
        let prompt = Prompt::new(serde_json::from_value(blocks).unwrap());
        assert_eq!(prompt.text, "look\nrun: ls");
        assert_eq!(prompt.size, 14);
        assert_eq!(
            prompt.attachments,
            [
                "an image (`image/png`, 5 bytes)",
                "a sound (`audio/wav`, 6 bytes)",
                "a link to `a.txt` (`file:///a.txt`)",
                "the text of `file:///b.txt` (2 lines)",
                "the data of `file:///c` (2 bytes)",
            ]
        );
    }
}
