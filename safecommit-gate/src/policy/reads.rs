//! Which attributes a policy reads, from its parsed form.

use std::collections::BTreeSet;

use cedar_policy::pst::{
    Clause, Expr, Literal, PrincipalConstraint, ResourceConstraint, Template, Var,
};

/// Where an attribute stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holder {
    Principal,
    Resource,
    Context,
}

impl Holder {
    pub(crate) const ALL: [Self; 3] = [Self::Principal, Self::Resource, Self::Context];
}

/// What the answer of a policy depends on, beside who asks for which action on what.
///
/// Whatever this cannot see through counts as reading every attribute. A policy is evaluated with the attributes
/// that stand here and no others, so one that was overlooked could not be read in one world and reused in another:
/// reading it would be an error, and an error makes the action unsafe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reads {
    attributes: BTreeSet<(Holder, String)>,
    every_attribute: bool,
    /// The conditions name an action or ask which one it is, beyond the scope.
    pub(crate) action: bool,
    /// The answer may depend on who principal and resource are, beyond their types and the attributes that stand here:
    /// on their names or on their groups.
    pub(crate) parties: bool,
}

impl Reads {
    /// What the conditions of a policy read; its scope names entities, never attributes.
    pub(crate) fn of(policy: &Template) -> Self {
        let mut reads = Self::default();
        let principal = &policy.principal;
        reads.parties |= !matches!(
            principal,
            PrincipalConstraint::Any | PrincipalConstraint::Is(_)
        );
        let resource = &policy.resource;
        reads.parties |= !matches!(
            resource,
            ResourceConstraint::Any | ResourceConstraint::Is(_)
        );
        for clause in policy.clauses() {
            match clause {
                Clause::When(condition) | Clause::Unless(condition) => reads.visit(condition),
            }
        }
        reads
    }

    pub(crate) fn includes(&self, holder: Holder, attribute: &str) -> bool {
        self.every_attribute
            || self
                .attributes
                .iter()
                .any(|(known, name)| *known == holder && name == attribute)
    }

    fn visit(&mut self, expression: &Expr) {
        match expression {
            // Cedar compares entities by name, so an entity as a whole has no attributes. The context is a record.
            Expr::Literal(Literal::EntityUID(uid)) => {
                self.action |= uid.ty.0.id.as_str() == "Action";
            }
            Expr::Literal(_) => {}
            Expr::Var(Var::Principal | Var::Resource) => self.parties = true,
            Expr::Var(Var::Action) => self.action = true,
            Expr::Var(Var::Context) => self.every_attribute = true,
            Expr::GetAttr { expr, attr } => self.visit_attribute(expr, attr),
            Expr::HasAttr { expr, attrs } => self.visit_attribute(expr, &attrs.head),
            Expr::UnaryOp { expr, .. } | Expr::Like { expr, .. } => self.visit(expr),
            Expr::BinaryOp { op, left, right } => {
                use cedar_policy::pst::BinaryOp::{GetTag, HasTag, In};
                self.every_attribute |= matches!(op, GetTag | HasTag);
                // What stands on either side may be one of them, or a group of one.
                self.parties |= matches!(op, GetTag | HasTag | In);
                self.visit(left);
                self.visit(right);
            }
            Expr::Is { expr, in_expr, .. } => {
                self.parties |= in_expr.is_some();
                // Their types say nothing of who they are.
                if !matches!(**expr, Expr::Var(Var::Principal | Var::Resource)) {
                    self.visit(expr);
                }
                in_expr.iter().for_each(|parent| self.visit(parent));
            }
            Expr::IfThenElse {
                cond,
                then_expr,
                else_expr,
            } => {
                [cond, then_expr, else_expr]
                    .into_iter()
                    .for_each(|part| self.visit(part));
            }
            Expr::Set(members) => members.iter().for_each(|member| self.visit(member)),
            Expr::Record(fields) => fields.values().for_each(|field| self.visit(field)),
            _ => {
                self.every_attribute = true;
                self.action = true;
                self.parties = true;
            }
        }
    }

    fn visit_attribute(&mut self, of: &Expr, attribute: &str) {
        let holder = match of {
            Expr::Var(Var::Principal) => Some(Holder::Principal),
            Expr::Var(Var::Resource) => Some(Holder::Resource),
            Expr::Var(Var::Context) => Some(Holder::Context),
            _ => None,
        };
        match holder {
            Some(holder) => {
                self.attributes.insert((holder, attribute.to_owned()));
            }
            // An entity that an expression or a literal names may be the resource itself.
            None => {
                self.every_attribute = true;
                self.parties = true;
                self.visit(of);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(condition: &str) -> Reads {
        reads_in("principal, action, resource", condition)
    }

    fn reads_in(scope: &str, condition: &str) -> Reads {
        let text = format!("permit({scope}) when {{ {condition} }};");
        let policy = cedar_policy::Policy::parse(None, text).unwrap();
        Reads::of(policy.to_pst().unwrap().body())
    }

    #[test]
    fn attributes_of_the_variables_are_read_one_by_one() {
        let found = reads(
            "resource.kind == Kind::\"link\" && !(principal has trusted) \
             && (if context.staged then [1].contains(2) else resource.path like \"*\")",
        );
        for (holder, attribute, expected) in [
            (Holder::Resource, "kind", true),
            (Holder::Resource, "path", true),
            (Holder::Principal, "trusted", true),
            (Holder::Context, "staged", true),
            (Holder::Context, "kind", false),
            (Holder::Resource, "owner", false),
        ] {
            assert_eq!(
                found.includes(holder, attribute),
                expected,
                "{holder:?} {attribute}"
            );
        }
        assert!(!found.action && !found.every_attribute);
    }

    #[test]
    fn entities_as_a_whole_have_no_attributes() {
        let found =
            reads("resource == Entry::\"a\" && principal in Group::\"g\" && resource is Entry");
        let parties = true;
        assert_eq!(
            found,
            Reads {
                parties,
                ..Reads::default()
            }
        );
        assert!(reads("action == Action::\"delete\"").action);
    }

    #[test]
    fn what_cannot_be_seen_through_reads_everything() {
        for condition in [
            "context == {}",
            "Entry::\"a\".kind == 1",
            "(if true then resource else principal).kind == 1",
            "{\"of\": resource}.of.kind == 1",
            "resource.parent.kind == 1",
            "resource.hasTag(\"kind\")",
            "resource.getTag(\"kind\") == 1",
            "Entry::\"a\" has kind",
        ] {
            assert!(reads(condition).every_attribute, "{condition}");
        }
    }

    #[test]
    fn who_they_are_matters_where_a_name_or_a_group_can() {
        for condition in [
            "resource == Entry::\"a\"",
            "resource == resource",
            "[principal].contains(principal)",
            "{\"of\": resource}.of.kind == 1",
            "Entry::\"a\".kind == 1",
            "Entry::\"a\" has kind",
            "resource.parent.kind == 1",
            "resource.kind in Kind::\"link\"",
            "principal in [Group::\"g\"]",
            "Group::\"g\" in Group::\"h\"",
            "resource is Entry in Group::\"g\"",
            "resource.parent is Entry in Group::\"g\"",
            "resource.hasTag(\"kind\")",
            "(if resource.dirty then resource else principal) is Entry",
        ] {
            assert!(reads(condition).parties, "{condition}");
        }
        for condition in [
            "resource.kind == Kind::\"link\"",
            "[Kind::\"link\"].contains(resource.kind)",
            "resource is Entry && !(principal has trusted)",
            "action == Action::\"delete\"",
            "context == {}",
        ] {
            assert!(!reads(condition).parties, "{condition}");
        }
        for (scope, parties) in [
            ("principal is Agent, action, resource is Entry", false),
            ("principal == Agent::\"a\", action, resource", true),
            ("principal in Team::\"t\", action, resource", true),
            ("principal is Agent in Team::\"t\", action, resource", true),
            ("principal, action, resource == Entry::\"a\"", true),
            ("principal, action, resource in Team::\"t\"", true),
            ("principal, action, resource is Entry in Team::\"t\"", true),
        ] {
            assert_eq!(reads_in(scope, "true").parties, parties, "{scope}");
        }
    }
}
