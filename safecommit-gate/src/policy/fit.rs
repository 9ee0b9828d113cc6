//! Whether actions have what the schema asks of them, found out before there is a request.

use super::attribute::attributes;
use super::bind::{Bound, bound, check};
use super::place::{Declares, declaration};
use super::reads::Holder;
use super::{ActionDescription, BindError, Place, PolicyError, SafetyPolicies};
use crate::Facts;

impl SafetyPolicies {
    /// Whether an action that is described so has, over these facts, what the schema asks of it: what [`Self::bind`] would
    /// refuse in every decision is refused here, once, by whoever knows beforehand which facts there will be. Attributes
    /// that no policy reads count too. Of a resource whose names are enumerated, the name alone is not looked at.
    ///
    /// ```
    /// use safecommit_gate::{ActionDescription, FILE_POLICIES, Fact, Facts, PolicyText, SafetyPolicies};
    ///
    /// let schema = PolicyText {
    ///     name: "mail.cedarschema",
    ///     text: r#"
    ///         entity Agent;
    ///         entity Message = { external: Bool, colour: String };
    ///         action send appliesTo { principal: [Agent], resource: [Message] };
    ///     "#,
    /// };
    /// let text = "permit(principal, action, resource) when { !resource.external };";
    /// let policies = SafetyPolicies::load(&[PolicyText { name: "mail.cedar", text }], schema)?;
    /// let facts = Facts::new([Fact::new("external", ["no", "yes"])?])?;
    /// let error = policies.fits(&facts, &ActionDescription::new("send", "agent", "note")).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "schema `mail.cedarschema`, line 3, column 44: action `send` has no value for the attribute `colour`; \
    ///      the attribute stands on the entity type `Message`"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`PolicyError::Schema`] with the place where the schema asks for it.
    pub fn fits(&self, facts: &Facts, action: &ActionDescription) -> Result<(), PolicyError> {
        let loaded = &self.0;
        let request = bound(loaded, action).map_err(|error| self.misfit(action, None, &error))?;
        let attributes = attributes(loaded, facts, action, &request).map_err(|unbound| {
            let holder = unbound.holder.map(|holder| (holder, &request));
            self.misfit(action, holder, &unbound.error)
        })?;
        if loaded
            .declared
            .is_enumerated(request.resource.0.type_name())
        {
            return Ok(());
        }
        check(loaded, action, &request, &attributes)
            .map_err(|error| self.misfit(action, None, &error))
    }

    /// The error at the attribute and what it stands on, else at the action.
    fn misfit(
        &self,
        action: &ActionDescription,
        holder: Option<(Holder, &Bound)>,
        error: &BindError,
    ) -> PolicyError {
        let of_action = Declares::Action(action.action());
        let (declares, stands) = match holder {
            None => (of_action, String::new()),
            Some((Holder::Context, request)) => {
                let on = format!("the context of `{}`", request.action);
                (of_action, on)
            }
            Some((Holder::Principal, request)) => of_type(&request.principal.0),
            Some((Holder::Resource, request)) => of_type(&request.resource.0),
        };
        let attribute = match error {
            BindError::Missing { attribute, .. }
            | BindError::UnknownFact { attribute, .. }
            | BindError::Twice { attribute, .. }
            | BindError::Value { attribute, .. } => Some(attribute.as_str()),
            _ => None,
        };
        let text = &self.0.schema_text;
        let stands = if stands.is_empty() {
            stands
        } else {
            format!("; the attribute stands on {stands}")
        };
        PolicyError::Schema {
            file: self.0.schema_name.clone(),
            place: Place::of(text, declaration(text, &declares, attribute)),
            message: format!("{error}{stands}"),
        }
    }
}

fn of_type(uid: &cedar_policy::EntityUid) -> (Declares<'_>, String) {
    let name = uid.type_name();
    let on = format!("the entity type `{name}`");
    (Declares::Entity(name.basename()), on)
}
