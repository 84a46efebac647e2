//! What a file is known by, whatever it is called.

/// In hexadecimal digits, as `sha256sum` writes it.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
