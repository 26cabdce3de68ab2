//! The hooks that a layer may implement, as the attribute knows them.

use std::fmt;

use syn::Path;

/// A trait whose impl blocks the attribute takes.
pub(crate) struct LayerTrait {
    pub(crate) name: &'static str,
    pub(crate) hooks: &'static [Hook],
    /// Whether the attribute writes the names of the hooks and of the type into the block.
    pub(crate) described: bool,
}

/// One hook: its name, its parameters after `self`, and what its future returns.
pub(crate) struct Hook {
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [(&'static str, &'static str)],
    output: &'static str,
}

impl LayerTrait {
    /// The trait with this path. Only its last segment is looked at.
    pub(crate) fn named(path: &Path) -> Option<&'static Self> {
        let last = &path.segments.last()?.ident;
        [&MIDDLEWARE, &TOOL_MIDDLEWARE].into_iter().find(|layer_trait| last == layer_trait.name)
    }

    pub(crate) fn hook(&self, name: &str) -> Option<&'static Hook> {
        self.hooks.iter().find(|hook| hook.name == name)
    }
}

/// The signature to write.
impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "async fn {}(&self", self.name)?;
        for (name, ty) in self.parameters {
            write!(f, ", {name}: {ty}")?;
        }
        write!(f, ") -> Result<{}>", self.output)
    }
}

const MIDDLEWARE: LayerTrait = LayerTrait {
    name: "Middleware",
    described: true,
    hooks: &[
        Hook {
            name: "on_reply",
            parameters: &[("cx", "Cx<Reply>"), ("input", "ReplyInput"), ("next", "Next<Reply>")],
            output: "Msg",
        },
        Hook {
            name: "on_reasoning",
            parameters: &[("cx", "Cx<Reasoning>"), ("input", "ReasoningInput"), ("next", "Next<Reasoning>")],
            output: "Option<Msg>",
        },
        Hook {
            name: "on_model_call",
            parameters: &[("cx", "Cx<ModelCall>"), ("request", "ModelRequest"), ("next", "Next<ModelCall>")],
            output: "ChatResponse",
        },
        Hook {
            name: "on_check_permission",
            parameters: &[
                ("cx", "Cx<CheckPermission>"),
                ("request", "PermissionRequest"),
                ("next", "Next<CheckPermission>"),
            ],
            output: "PermissionDecision",
        },
        Hook {
            name: "on_acting",
            parameters: &[("cx", "Cx<Acting>"), ("input", "ActingInput"), ("next", "Next<Acting>")],
            output: "ToolResponse",
        },
        Hook {
            name: "on_compress_context",
            parameters: &[("cx", "Cx<Compress>"), ("input", "CompressInput"), ("next", "Next<Compress>")],
            output: "()",
        },
        Hook {
            name: "on_system_prompt",
            parameters: &[("cx", "Cx<SystemPrompt>"), ("prompt", "String")],
            output: "String",
        },
    ],
};

const TOOL_MIDDLEWARE: LayerTrait = LayerTrait {
    name: "ToolMiddleware",
    described: false,
    hooks: &[Hook {
        name: "on_tool_call",
        parameters: &[("cx", "ToolCx"), ("input", "ToolCallInput"), ("next", "Next<ToolCalling>")],
        output: "ToolResponse",
    }],
};
