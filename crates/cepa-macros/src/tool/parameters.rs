//! The parameters of a tool's function: which are arguments that the model gives, and how.

use syn::{
    Attribute, Error, FnArg, GenericArgument, Ident, Pat, PatType, PathArguments, Result, Signature, Type,
};

use crate::attributes::is_lint;

/// One parameter, in the order of the function.
pub(super) enum Parameter {
    /// The call's `ToolCx`, and what it is called.
    Context(Option<Ident>),
    /// Something the model gives.
    Argument(Box<Argument>),
}

pub(super) struct Argument {
    /// `None` for a pattern.
    pub(super) name: Option<Ident>,
    pub(super) ty: Type,
    /// What describes it to the model and to serde: everything but lint levels.
    pub(super) attrs: Vec<Attribute>,
}

/// How the arguments of a call become those of the function.
pub(super) enum Arguments<'a> {
    None,
    /// One parameter whose type's fields are the arguments.
    Fields(&'a Type),
    /// One parameter: its type's fields are the arguments if it is a struct, else it is the only argument. Which it
    /// is shows in the type's schema.
    One(Named<'a>),
    /// Each parameter is an argument.
    Several(Vec<Named<'a>>),
}

/// A parameter that is an argument under its own name.
pub(super) struct Named<'a> {
    pub(super) name: &'a Ident,
    pub(super) ty: &'a Type,
    pub(super) attrs: &'a [Attribute],
}

/// The parameters; what the compiler would not take at them is moved out of the signature.
pub(super) fn take(sig: &mut Signature) -> Result<Vec<Parameter>> {
    let mut result = Ok(Vec::new());
    for input in &mut sig.inputs {
        // To the end, whatever is wrong: a signature with attributes left in it gives errors of its own.
        match (&mut result, parameter(input)) {
            (Ok(parameters), Ok(parameter)) => parameters.push(parameter),
            (Ok(_), Err(error)) => result = Err(error),
            (Err(errors), Err(error)) => errors.combine(error),
            (Err(_), Ok(_)) => {}
        }
    }
    let parameters = result?;
    let contexts = parameters.iter().filter(|parameter| matches!(parameter, Parameter::Context(_))).count();
    if contexts > 1 {
        return Err(Error::new_spanned(&sig.inputs, "a tool takes one `ToolCx`"));
    }
    Ok(parameters)
}

fn parameter(input: &mut FnArg) -> Result<Parameter> {
    let typed = match input {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => {
            let message =
                "a tool is a function of its own, without `self`: implement `Tool` for a type with data";
            return Err(Error::new_spanned(receiver, message));
        }
    };
    let (lints, attrs): (Vec<_>, Vec<_>) = typed.attrs.drain(..).partition(is_lint);
    typed.attrs = lints;
    if is_context(&typed.ty) {
        return Ok(Parameter::Context(name(typed)));
    }
    if let Some(cfg) = attrs.iter().find(|attr| attr.path().is_ident("cfg")) {
        return Err(Error::new_spanned(cfg, "an argument of a tool cannot be conditional"));
    }
    if let Type::Reference(reference) = ungrouped(&typed.ty) {
        let message = "a tool owns its arguments: write `String` for `&str`, `Vec<T>` for `&[T]`, `ToolCx` for `&ToolCx`";
        return Err(Error::new_spanned(reference, message));
    }
    if let Pat::Wild(wild) = &*typed.pat {
        return Err(Error::new_spanned(
            wild,
            "the model gives an argument by its name: give this one a name",
        ));
    }
    Ok(Parameter::Argument(Box::new(Argument { name: name(typed), ty: (*typed.ty).clone(), attrs })))
}

fn name(typed: &PatType) -> Option<Ident> {
    match &*typed.pat {
        Pat::Ident(pat) if pat.subpat.is_none() => Some(pat.ident.clone()),
        _ => None,
    }
}

/// `ToolCx` or `Cx<ToolCalling>`, by any path.
fn is_context(ty: &Type) -> bool {
    let Type::Path(path) = ungrouped(ty) else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let hook = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.first(),
        _ => None,
    };
    match hook {
        None => last.ident == "ToolCx",
        Some(GenericArgument::Type(Type::Path(hook))) => {
            last.ident == "Cx" && hook.path.segments.last().is_some_and(|hook| hook.ident == "ToolCalling")
        }
        Some(_) => false,
    }
}

/// The type itself, where a declarative macro has put it in a group.
fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        ty => ty,
    }
}

impl<'a> Arguments<'a> {
    pub(super) fn of(parameters: &'a [Parameter]) -> Result<Self> {
        let arguments: Vec<&Argument> = parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Argument(argument) => Some(&**argument),
                Parameter::Context(_) => None,
            })
            .collect();
        match *arguments {
            [] => Ok(Self::None),
            [Argument { name: None, ty, attrs }] if attrs.is_empty() => Ok(Self::Fields(ty)),
            [Argument { name: Some(name), ty, attrs }] if attrs.is_empty() => {
                Ok(Self::One(Named { name, ty, attrs }))
            }
            _ => arguments.into_iter().map(Named::of).collect::<Result<_>>().map(Self::Several),
        }
    }
}

impl<'a> Named<'a> {
    fn of(Argument { name, ty, attrs }: &'a Argument) -> Result<Self> {
        let Some(name) = name else {
            let message =
                "the model gives this argument by a name: write `name: Type`, or take one struct of all";
            return Err(Error::new_spanned(ty, message));
        };
        Ok(Self { name, ty, attrs })
    }
}
