//! GLB files (glTF 2.0, section 4.4).

/// A document and its binary chunk.
pub fn glb(json: &str, bin: &[u8]) -> Vec<u8> {
    let padded = |bytes: &[u8], with: u8| {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), with);
        bytes
    };
    let (json, bin) = (padded(json.as_bytes(), b' '), padded(bin, 0));
    let mut out = b"glTF".to_vec();
    let word = |out: &mut Vec<u8>, x: usize| out.extend((x as u32).to_le_bytes());
    for x in [2, 28 + json.len() + bin.len(), json.len(), 0x4E4F_534A] {
        word(&mut out, x);
    }
    out.extend(&json);
    word(&mut out, bin.len());
    word(&mut out, 0x004E_4942);
    out.extend(&bin);
    out
}
