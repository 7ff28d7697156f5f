//! Tests of accessors.
use serde_json::json;

use super::*;

fn store<'a>(root: &Value, buffer: &'a [u8]) -> Store<'a> {
    Store::new(root, vec![Ok(Bytes::Borrowed(buffer))], HashMap::new())
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[test]
fn strided_floats() {
    let bytes = floats(&[1.0, 2.0, 9.0, 3.0, 4.0, 9.0]);
    let root = json!({
        "bufferViews": [{"buffer": 0, "byteLength": 24, "byteStride": 12}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC2", "count": 2}],
    });
    let store = store(&root, &bytes);
    assert_eq!(store.floats::<2>(store.accessor(0).unwrap()).unwrap(), [[1.0, 2.0], [3.0, 4.0]]);
}

#[test]
fn normalized_integers() {
    let bytes = [255u8, 0, 51, 128, 129, 127, 0, 0, 255, 255, 0, 128];
    let root = json!({
        "bufferViews": [{"buffer": 0, "byteLength": 12}],
        "accessors": [
            {"bufferView": 0, "componentType": 5121, "type": "VEC3", "count": 1, "normalized": true},
            {"bufferView": 0, "byteOffset": 3, "componentType": 5120, "type": "VEC3", "count": 1, "normalized": true},
            {"bufferView": 0, "byteOffset": 8, "componentType": 5123, "type": "VEC2", "count": 1, "normalized": true},
            {"bufferView": 0, "byteOffset": 8, "componentType": 5122, "type": "VEC2", "count": 1, "normalized": true},
            {"bufferView": 0, "componentType": 5121, "type": "VEC3", "count": 1},
        ],
    });
    let store = store(&root, &bytes);
    let get = |index| store.accessor(index).unwrap();
    assert_eq!(store.floats::<3>(get(0)).unwrap(), [[1.0, 0.0, 0.2]]);
    assert_eq!(store.floats::<3>(get(1)).unwrap(), [[-1.0, -1.0, 1.0]], "-128 is clamped");
    assert_eq!(store.floats::<2>(get(2)).unwrap(), [[1.0, 32768.0 / 65535.0]]);
    assert_eq!(store.floats::<2>(get(3)).unwrap(), [[-1.0 / 32767.0, -1.0]]);
    assert_eq!(store.floats::<3>(get(4)).unwrap(), [[255.0, 0.0, 51.0]]);
}

#[test]
fn indices_of_all_widths() {
    let bytes = [1u8, 2, 3, 0, 0, 1, 0, 0];
    let root = json!({
        "bufferViews": [{"buffer": 0, "byteLength": 8}],
        "accessors": [
            {"bufferView": 0, "componentType": 5121, "type": "SCALAR", "count": 3},
            {"bufferView": 0, "componentType": 5123, "type": "SCALAR", "count": 3},
            {"bufferView": 0, "componentType": 5125, "type": "SCALAR", "count": 2},
            {"bufferView": 0, "componentType": 5126, "type": "SCALAR", "count": 2},
        ],
    });
    let store = store(&root, &bytes);
    let get = |index| store.integers(store.accessor(index).unwrap());
    assert_eq!(get(0).unwrap(), [1, 2, 3]);
    assert_eq!(get(1).unwrap(), [0x201, 3, 0x100]);
    assert_eq!(get(2).unwrap(), [0x30201, 0x100]);
    assert!(get(3).is_err());
}

#[test]
fn sparse_replaces_and_missing_views_are_zeros() {
    let mut bytes = floats(&[1.0, 2.0, 3.0, 7.0, 8.0]);
    bytes.extend([0, 0, 2, 0]);
    let sparse = json!({"count": 2, "indices": {"bufferView": 1, "componentType": 5123}, "values": {"bufferView": 0, "byteOffset": 12}});
    let root = json!({
        "bufferViews": [{"buffer": 0, "byteLength": 20}, {"buffer": 0, "byteOffset": 20, "byteLength": 4}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "type": "SCALAR", "count": 3, "sparse": sparse},
            {"componentType": 5126, "type": "SCALAR", "count": 3, "sparse": sparse},
            {"componentType": 5126, "type": "SCALAR", "count": 1, "sparse": sparse},
            {"componentType": 5126, "type": "SCALAR", "count": 2},
            {"componentType": 5126, "type": "SCALAR", "count": 4_000_000_000u64},
            {"bufferView": 0, "componentType": 5126, "type": "SCALAR", "count": 4_000_000_000u64},
        ],
    });
    let store = store(&root, &bytes);
    let get = |index| store.floats::<1>(store.accessor(index).unwrap());
    assert_eq!(get(0).unwrap(), [[7.0], [2.0], [8.0]]);
    assert_eq!(get(1).unwrap(), [[7.0], [0.0], [8.0]]);
    assert!(matches!(get(2), Err(ReadError::Broken(_))), "more substitutes than elements");
    assert_eq!(get(3).unwrap(), [[0.0], [0.0]]);
    assert!(matches!(get(4), Err(ReadError::TooLarge(_))));
    assert!(matches!(get(5), Err(ReadError::Broken(_))), "a count without bytes");
}

#[test]
fn of_nothing_nothing_can_be_wrong() {
    let root = json!({
        "bufferViews": [{"byteLength": 0, "byteOffset": 99}],
        "accessors": [
            {"count": 0},
            {"count": 0, "bufferView": 7, "componentType": 5126, "type": "VEC3", "sparse": {"count": 1}},
            {"count": 1, "componentType": 5121, "type": "SCALAR", "sparse": {"count": 0}},
            {"count": 1, "bufferView": 0, "componentType": 5121, "type": "SCALAR"},
        ],
    });
    let store = store(&root, &[]);
    assert_eq!(store.view(0).unwrap(), &[] as &[u8]);
    for index in 0..2 {
        let accessor = store.accessor(index).unwrap();
        assert!(
            store.floats::<3>(accessor).unwrap().is_empty()
                && store.integers(accessor).unwrap().is_empty()
        );
        assert!(store.row(accessor).unwrap().is_empty());
    }
    assert_eq!(store.integers(store.accessor(2).unwrap()).unwrap(), [0]);
    assert!(matches!(store.integers(store.accessor(3).unwrap()), Err(ReadError::Broken(_))));
}

#[test]
fn columns_of_small_matrices_are_aligned() {
    let bytes = [1u8, 2, 99, 99, 3, 4, 99, 99, 5, 6, 99, 99, 7, 8];
    let root = json!({
        "bufferViews": [{"buffer": 0, "byteLength": 14}],
        "accessors": [{"bufferView": 0, "componentType": 5121, "type": "MAT2", "count": 2}],
    });
    let store = store(&root, &bytes);
    let matrices = store.floats::<4>(store.accessor(0).unwrap()).unwrap();
    assert_eq!(matrices, [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]);
}
