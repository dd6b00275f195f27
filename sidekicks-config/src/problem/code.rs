//! The kinds of problems.

use super::Severity;
use super::shown::shown;

/// What kind of value is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Expected {
    /// A text in double quotes.
    Text,
    /// A number without a fraction.
    Integer,
    /// `true` or `false`.
    Bool,
    /// A list: `[…]`.
    List,
    /// A map: `{…}`.
    Map,
}

/// What to do about a key that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Advice {
    /// Nothing comes to mind.
    None,
    /// This key exists, and is written much like it.
    DidYouMean(String),
    /// Another program calls so what is called this here.
    CalledHere(String),
    /// Another program says with it the opposite of what is said with this key here.
    Opposite(String),
    /// Another program needs it, and nothing stands for it here.
    Delete,
}

macro_rules! codes {
    ($($(#[$doc:meta])+ $name:ident $({ $($(#[$field_doc:meta])+ $field:ident: $type:ty),+ $(,)? })? = $id:literal $severity:ident,)+) => {
        /// What a [`Problem`](super::Problem) is, with what there is to know about it.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])+ $name $({ $($(#[$field_doc])+ $field: $type),+ })?,)+
        }

        /// The names of all kinds of problems, as [`Problem::id`](super::Problem::id) has them.
        pub const CODES: &[&str] = &[$($id),+];

        impl Code {
            /// The name of this kind, in kebab-case.
            pub fn id(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $id,)+
                }
            }

            /// How much it matters.
            pub fn severity(&self) -> Severity {
                match self {
                    $(Self::$name { .. } => Severity::$severity,)+
                }
            }
        }
    };
}

codes! {
    // How it is written.
    /// The file is not UTF-8 from here on. It may be in another encoding, such as UTF-16.
    NotUtf8 = "not-utf8" Error,
    /// There is nothing in it.
    Empty = "empty" Error,
    /// A comma is missing after this value.
    MissingComma = "missing-comma" Error,
    /// A comma with nothing before it.
    ExtraComma = "extra-comma" Error,
    /// A colon is missing after this key.
    MissingColon = "missing-colon" Error,
    /// A value is missing after this colon.
    MissingValue = "missing-value" Error,
    /// Something stands in a map that is no key and belongs to none.
    MissingKey = "missing-key" Error,
    /// A key without quotes.
    UnquotedKey = "unquoted-key" Error,
    /// A text in other quotes than `"`.
    WrongQuotes = "wrong-quotes" Error,
    /// A text without quotes.
    BareWord {
        /// The value that others write so: `true` for `True`.
        nearest: Option<String>,
    } = "bare-word" Error,
    /// A number as JSON does not have it, or too large to be held.
    BadNumber = "bad-number" Error,
    /// A text whose closing quote is not on its line.
    UnclosedText = "unclosed-text" Error,
    /// A backslash before what it cannot stand before.
    BadEscape = "bad-escape" Error,
    /// A tab or another control character inside a text.
    ControlCharacter = "control-character" Error,
    /// A quote inside a text, without a backslash.
    InnerQuote = "inner-quote" Error,
    /// The bracket that stands here is never closed.
    UnclosedBracket {
        /// `{` or `[`.
        bracket: char,
    } = "unclosed-bracket" Error,
    /// A closing bracket that closes nothing.
    StrayBracket {
        /// `}` or `]`.
        bracket: char,
    } = "stray-bracket" Error,
    /// A closing bracket of the other kind.
    WrongBracket {
        /// The one that should stand here.
        expected: char,
    } = "wrong-bracket" Error,
    /// A comment that begins here and never ends. Nothing after it was read.
    UnclosedComment = "unclosed-comment" Error,
    /// A comment that begins with `#`.
    HashComment = "hash-comment" Error,
    /// A space that JSON does not have, such as a no-break space.
    OddSpace = "odd-space" Error,
    /// A character that has no meaning here.
    Unexpected = "unexpected" Error,
    /// Something stands after the end of the value. It was not read.
    TrailingContent = "trailing-content" Error,
    /// The marks of a merge that could not choose, at the first of them. Nothing between them was read.
    ConflictMarker = "conflict-marker" Error,
    /// Brackets are nested more than 64 deep. Nothing after it was read.
    TooDeep = "too-deep" Error,
    /// There may be more problems than [`MAX_PROBLEMS`](super::MAX_PROBLEMS).
    TooManyProblems = "too-many-problems" Error,
    /// A key that stood before in the same map; the other place is that one.
    DuplicateKey {
        /// The key. It is empty where it may be a secret.
        key: String,
    } = "duplicate-key" Error,

    // What the schema wants.
    /// A key that has to be there is not.
    RequiredKey {
        /// The key.
        key: String,
    } = "required-key" Error,
    /// A key that does not exist.
    UnknownKey {
        /// The key. It is empty where it may be a secret.
        key: String,
        /// What to do about it.
        advice: Advice,
    } = "unknown-key" Error,
    /// A name of an agent, a workspace, a server or a channel with other characters than it may have.
    BadName = "bad-name" Error,
    /// A name of an environment variable that is none.
    BadVariable = "bad-variable" Error,
    /// A name of a header that is none.
    BadHeader = "bad-header" Error,
    /// The version of the format is a number that does not exist, or no number.
    BadVersion = "bad-version" Error,
    /// A value of another kind than is wanted.
    WrongType {
        /// The kind that is wanted.
        expected: Expected,
    } = "wrong-type" Error,
    /// A value that is none of those that there are.
    NotOneOf {
        /// Those that there are.
        allowed: Vec<String>,
        /// The one that is written much like it.
        nearest: Option<String>,
    } = "not-one-of" Error,
    /// No duration.
    BadDuration {
        /// Whether `never` is one, here.
        never: bool,
        /// The one that was probably meant.
        nearest: Option<String>,
    } = "bad-duration" Error,
    /// No size.
    BadSize {
        /// The one that was probably meant.
        nearest: Option<String>,
    } = "bad-size" Error,
    /// No address of a server.
    BadUrl = "bad-url" Error,
    /// A text with the character U+0000, at which the system would end it.
    NulCharacter = "nul-character" Error,
    /// A text in which there has to be something.
    EmptyText = "empty-text" Error,
    /// A text that is too long.
    TooLong {
        /// How many characters it may have.
        max: u64,
    } = "too-long" Error,
    /// A number that is too small or too large.
    OutOfRange {
        /// The smallest that it may be.
        min: u64,
        /// The largest.
        max: u64,
    } = "out-of-range" Error,
    /// A map or a list with too few entries.
    TooFew {
        /// How many it must have.
        min: u64,
    } = "too-few" Error,
    /// A map or a list with too many entries.
    TooMany {
        /// How many it may have.
        max: u64,
    } = "too-many" Error,
    /// An item that stood before in the same list; the other place is that one.
    Repeated = "repeated" Error,

    // What entries say of each other.
    /// A name that differs from another one in upper and lower case alone; the other place is that one.
    NameDiffersByCase = "name-differs-by-case" Error,
    /// There is no workspace of this name.
    UnknownWorkspace {
        /// One that is written much like it.
        nearest: Option<String>,
    } = "unknown-workspace" Error,
    /// There is no agent of this name.
    UnknownAgent {
        /// One that is written much like it.
        nearest: Option<String>,
    } = "unknown-agent" Error,
    /// There is no MCP server of this name.
    UnknownMcpServer {
        /// One that is written much like it.
        nearest: Option<String>,
    } = "unknown-mcp-server" Error,
    /// An agent is expected to use more memory than it may use; the other place is the limit.
    EstimateAboveLimit = "estimate-above-limit" Error,
    /// An agent is expected to use more memory than all may use together, so that it could never start; the other place is
    /// that limit.
    EstimateAboveTotal = "estimate-above-total" Error,
    /// An agent has a workspace and a folder as well; the other place is the first of them.
    WorkspaceAndCwd = "workspace-and-cwd" Error,
    /// The file is for a newer version of this program. Nothing else in it was judged.
    NewerVersion = "newer-version" Error,
    /// A variable that this program uses for itself.
    ReservedVariable = "reserved-variable" Error,
    /// A variable whose name differs from another one in case alone; the other place is that one.
    VariableTwice = "variable-twice" Warning,
    /// No agent is enabled.
    NoAgentEnabled = "no-agent-enabled" Warning,
    /// No member of a channel is enabled.
    ChannelDisabled = "channel-disabled" Warning,
    /// Two are shown under the same name; the other place is the first.
    SameDisplayName = "same-display-name" Warning,
    /// Two workspaces are the same folder; the other place is the first.
    SamePath = "same-path" Warning,
    /// An agent may be stopped for idleness sooner than it may take to start.
    IdleBeforeStart = "idle-before-start" Warning,
    /// No agent works in this workspace.
    UnusedWorkspace = "unused-workspace" Warning,
    /// No agent uses this MCP server.
    UnusedMcpServer = "unused-mcp-server" Warning,

    // What this machine says of it.
    /// A program is not found.
    CommandNotFound {
        /// The program, as it is written in the file, but not what is after a `=`.
        command: String,
        /// The `PATH` that it was looked for on; `None` where it has a slash, or where the file itself sets the `PATH`.
        path: Option<String>,
    } = "command-not-found" Warning,
    /// A program is not found whose name has blanks: there are arguments in it, most likely.
    CommandWithArguments = "command-with-arguments" Warning,
    /// There is no such folder.
    NoSuchFolder = "no-such-folder" Warning,
    /// An environment variable that is not set.
    VariableNotSet {
        /// Its name.
        name: String,
    } = "variable-not-set" Warning,
    /// Something was meant as a variable and is none, as `${NAME:-x}`, or `$NAME` in a path.
    NotAVariable = "not-a-variable" Warning,
    /// Others can read the file, and something secret seems to stand here.
    ReadableSecret = "readable-secret" Warning,
}

impl Code {
    /// What could stand there instead, where one thing is likely.
    pub(super) fn hint(&self) -> Option<&str> {
        // A name of the file that cannot be shown is none to copy.
        self.likely().filter(|hint| shown(hint) == *hint)
    }

    fn likely(&self) -> Option<&str> {
        match self {
            Self::UnknownKey {
                advice: Advice::DidYouMean(key) | Advice::CalledHere(key) | Advice::Opposite(key),
                ..
            } => Some(key),
            Self::BareWord { nearest }
            | Self::NotOneOf { nearest, .. }
            | Self::BadDuration { nearest, .. }
            | Self::BadSize { nearest }
            | Self::UnknownWorkspace { nearest }
            | Self::UnknownAgent { nearest }
            | Self::UnknownMcpServer { nearest } => nearest.as_deref(),
            Self::RequiredKey { key } => Some(key),
            _ => None,
        }
    }

    /// This without the key, which may be a secret.
    pub(super) fn nameless(self) -> Self {
        match self {
            Self::DuplicateKey { .. } => Self::DuplicateKey { key: String::new() },
            Self::UnknownKey { advice, .. } => Self::UnknownKey { key: String::new(), advice },
            other => other,
        }
    }

    /// Whether the text itself could not be read as it is written, so that nothing in it is certain.
    pub(crate) fn is_syntax(&self) -> bool {
        matches!(
            self,
            Self::NotUtf8
                | Self::Empty
                | Self::MissingComma
                | Self::ExtraComma
                | Self::MissingColon
                | Self::MissingValue
                | Self::MissingKey
                | Self::UnquotedKey
                | Self::WrongQuotes
                | Self::BareWord { .. }
                | Self::BadNumber
                | Self::UnclosedText
                | Self::BadEscape
                | Self::ControlCharacter
                | Self::InnerQuote
                | Self::UnclosedBracket { .. }
                | Self::StrayBracket { .. }
                | Self::WrongBracket { .. }
                | Self::UnclosedComment
                | Self::HashComment
                | Self::OddSpace
                | Self::Unexpected
                | Self::TrailingContent
                | Self::ConflictMarker
                | Self::TooDeep
                | Self::TooManyProblems
        )
    }
}
