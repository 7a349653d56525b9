//! JSON documents against the schema that the repository promises.

use serde_json::Value;

/// All documents follow the schema, and the schema tells: the first one, changed at a pointer to a value, does not.
#[track_caller]
pub fn assert_follows(schema: &str, documents: &[Value], changes: &[(&str, Value)]) {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for document in documents {
        let mistakes: Vec<String> =
            validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path)).take(5).collect();
        assert!(mistakes.is_empty(), "{mistakes:#?}");
    }
    for (pointer, value) in changes {
        let mut broken = documents[0].clone();
        *broken.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value.clone();
        assert!(!validator.is_valid(&broken), "{pointer}");
    }
}
