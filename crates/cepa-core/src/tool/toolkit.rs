//! The tools of an agent: found by name, checked when they are added.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Map, Value};

use super::{
    Tool, ToolChunk, ToolFold, ToolGroup, ToolMiddleware, ToolResponse, Validator, meta::ResetTools, run_tool,
};
use crate::{
    chain::{Listed, Outlet, Tap},
    error::{Error, ErrorKind, Result},
    model::ToolSchema,
    shared::IntoShared,
    texts::{self, fill},
};

/// The tools of an agent, or of nobody. Built and checked once, cheap to clone.
#[derive(Clone, Default)]
pub struct Toolkit {
    entries: Arc<[Arc<Entry>]>,
    by_name: Arc<HashMap<Arc<str>, usize>>,
}

/// A tool with what is made of it once.
pub(crate) struct Entry {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) schema: ToolSchema,
    pub(crate) validator: Validator,
    pub(crate) group: Option<Arc<str>>,
    pub(crate) layers: Arc<[Listed<dyn ToolMiddleware>]>,
}

/// Tools that cannot stand in one toolkit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolkitError {
    /// A tool without a name.
    #[error("a tool of {owner} has an empty name")]
    EmptyName {
        /// Who brings the tool.
        owner: String,
    },
    /// A name that is taken.
    #[error("two tools are named `{name}`: one of {first}, one of {second}; rename one of them")]
    DuplicateName {
        /// The name.
        name: String,
        /// Who brings the first.
        first: String,
        /// Who brings the second.
        second: String,
    },
    /// A schema that cannot be used.
    #[error("the input schema of tool `{name}` is not valid: {reason}")]
    InvalidSchema {
        /// The tool.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// Two groups of one name.
    #[error("two tool groups are named `{0}`; rename one of them")]
    DuplicateGroup(String),
    /// A group without a name, or with the name of the tools that are always on.
    #[error("a tool group cannot be named `{0}`")]
    ReservedGroup(String),
}

/// Checks tools one by one and puts them together.
#[derive(Default)]
pub(crate) struct ToolkitBuilder {
    entries: Vec<Arc<Entry>>,
    groups: Vec<ToolGroup>,
    /// Who has taken which name.
    owners: HashMap<Arc<str>, String>,
}

/// The group of the tools that are always on, in AgentScope.
const BASIC: &str = "basic";

impl ToolkitBuilder {
    /// Takes a name, so that nobody else can have it.
    pub(crate) fn reserve(&mut self, name: &str, owner: &str) {
        self.owners.insert(name.into(), owner.to_owned());
    }

    pub(crate) fn add(&mut self, tool: Arc<dyn Tool>, owner: &str) -> Result<(), ToolkitError> {
        self.add_to(tool, owner, None, &[])
    }

    /// A builder whose toolkit has these groups. The model reads about its groups first.
    pub(crate) fn new(groups: Vec<ToolGroup>) -> Result<Self, ToolkitError> {
        for (index, group) in groups.iter().enumerate() {
            if group.name.is_empty() || group.name == BASIC {
                return Err(ToolkitError::ReservedGroup(group.name.clone()));
            }
            if groups[..index].iter().any(|earlier| earlier.name == group.name) {
                return Err(ToolkitError::DuplicateGroup(group.name.clone()));
            }
        }
        let mut builder = Self::default();
        if !groups.is_empty() {
            builder.add(Arc::new(ResetTools::new(&groups)), "the tool groups")?;
        }
        builder.groups = groups;
        Ok(builder)
    }

    fn add_to(
        &mut self,
        tool: Arc<dyn Tool>,
        owner: &str,
        group: Option<&Arc<str>>,
        group_layers: &[Arc<dyn ToolMiddleware>],
    ) -> Result<(), ToolkitError> {
        let name: Arc<str> = tool.name().into();
        if name.trim().is_empty() {
            return Err(ToolkitError::EmptyName { owner: owner.to_owned() });
        }
        if let Some(first) = self.owners.get(&name) {
            let (first, second) = (first.clone(), owner.to_owned());
            return Err(ToolkitError::DuplicateName { name: name.to_string(), first, second });
        }
        let entry = Entry::new(tool, group.cloned(), group_layers)?;
        self.owners.insert(name, owner.to_owned());
        self.entries.push(Arc::new(entry));
        Ok(())
    }

    /// The toolkit: the tools that are always on, then those of the groups.
    pub(crate) fn build(mut self) -> Result<Toolkit, ToolkitError> {
        for group in std::mem::take(&mut self.groups) {
            let name: Arc<str> = group.name.as_str().into();
            for tool in group.tools {
                self.add_to(tool, &format!("the group `{name}`"), Some(&name), &group.layers)?;
            }
        }
        let places = self.entries.iter().enumerate();
        let by_name = places.map(|(place, entry)| (entry.schema.name().clone(), place)).collect();
        Ok(Toolkit { entries: self.entries.into(), by_name: Arc::new(by_name) })
    }
}

impl Entry {
    pub(crate) fn new(
        tool: Arc<dyn Tool>,
        group: Option<Arc<str>>,
        group_layers: &[Arc<dyn ToolMiddleware>],
    ) -> Result<Self, ToolkitError> {
        let schema = ToolSchema::new(tool.name(), tool.description(), tool.input_schema().clone());
        let invalid = |reason| ToolkitError::InvalidSchema { name: tool.name().to_owned(), reason };
        let validator = Validator::new(tool.input_schema()).map_err(invalid)?;
        let layers: Vec<_> = group_layers.iter().cloned().chain(tool.middlewares()).collect();
        let total = layers.len();
        let listed = layers.into_iter().enumerate().map(|(index, layer)| Listed {
            name: layer.name().into(),
            key: None,
            position: index + 1,
            total,
            layer,
        });
        let layers = listed.collect();
        Ok(Self { schema, validator, group, layers, tool })
    }

    /// Whether the tool is on, given the groups that are.
    pub(crate) fn is_on(&self, groups: &[String]) -> bool {
        self.group.as_ref().is_none_or(|group| groups.iter().any(|on| **on == **group))
    }
}

impl Toolkit {
    /// A toolkit of these tools.
    ///
    /// # Errors
    /// A name that is empty or taken, a schema that is none.
    pub fn new<T>(tools: impl IntoIterator<Item = T>) -> Result<Self, ToolkitError>
    where
        T: IntoShared<dyn Tool>,
    {
        let mut builder = ToolkitBuilder::default();
        for tool in tools {
            builder.add(tool.into_shared(), "the toolkit")?;
        }
        builder.build()
    }

    /// The tool of this name, whether its group is on or not.
    pub fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.entry(name).map(|entry| &entry.tool)
    }

    /// All tools, in the order in which the model is told of them.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.entries.iter().map(|entry| &entry.tool)
    }

    /// Runs a tool without an agent: checks the arguments, goes through the tool's own layers, and returns the whole
    /// response. Nobody is asked for permission.
    ///
    /// # Errors
    /// No such tool, arguments that break its schema, and failures that are meant for the developer.
    pub async fn call(&self, name: &str, input: Map<String, Value>) -> Result<ToolResponse> {
        let entry =
            self.entry(name).ok_or_else(|| Error::other(fill(texts::ERROR_NOT_FOUND, &[("name", name)])))?;
        if let Some((reason, path)) = entry.validator.violation(&Value::Object(input.clone())) {
            let what = format!("the input of tool `{name}`");
            return Err(ErrorKind::SchemaViolation { what, reason: format!("{reason} (at {path})") }.into());
        }
        let (tap, fold) = Tap::folding(|fold: &mut ToolFold, chunk: &ToolChunk| fold.add(chunk));
        let mut response = run_tool(entry, input, None, Outlet::unheard(Some(tap))).await?;
        response.content.put(fold.take().into_blocks(), true);
        Ok(response)
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&Arc<Entry>> {
        self.by_name.get(name).map(|place| &self.entries[*place])
    }

    /// What the model is told of, given the groups that are on: the tools that are always on, the reply's own, and
    /// those of the groups.
    pub(crate) fn schemas<'a>(
        &'a self,
        groups: &'a [String],
        own: Option<&'a ToolSchema>,
    ) -> impl Iterator<Item = &'a ToolSchema> {
        let basic = self.entries.iter().filter(|entry| entry.group.is_none());
        let grouped = self.entries.iter().filter(|entry| entry.group.is_some() && entry.is_on(groups));
        basic.map(|entry| &entry.schema).chain(own).chain(grouped.map(|entry| &entry.schema))
    }
}

impl std::fmt::Debug for Toolkit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| entry.schema.name())).finish()
    }
}
