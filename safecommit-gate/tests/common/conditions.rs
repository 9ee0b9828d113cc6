//! Random conditions of policies.

use proptest::prelude::*;

/// Combinations of these, up to three deep.
pub(crate) fn condition(atoms: &'static [&'static str]) -> impl Strategy<Value = String> {
    let atom = prop::sample::select(atoms).prop_map(str::to_owned);
    atom.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} && {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} || {b})")),
            inner.clone().prop_map(|a| format!("!({a})")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| format!("(if {a} then {b} else {c})")),
        ]
    })
}
