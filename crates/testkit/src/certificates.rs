//! A certificate authority for tests.

use p12_keystore::{Certificate, KeyStore, KeyStoreEntry, PrivateKey, PrivateKeyChain};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, SignatureAlgorithm, date_time_ymd,
};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use time::OffsetDateTime;

/// A certificate authority made at run time.
pub struct TestCa {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// Certificates between this and the root, nearest first; empty for a root.
    above: Vec<CertificateDer<'static>>,
}

/// When a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Validity {
    Current,
    Expired,
    NotYet,
}

/// Kind of key of a client certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum KeyKind {
    P256,
    P384,
    Ed25519,
}

/// Extended key usage of a client certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Purpose {
    ClientAuth,
    ServerAuth,
    Unlimited,
}

/// A server's certificate with its chain and key.
pub struct ServerCertificate {
    /// Leaf first.
    pub chain: Vec<CertificateDer<'static>>,
    /// The private key, as PKCS#8.
    pub key: PrivateKeyDer<'static>,
}

/// A client's certificate with its chain and key.
pub struct ClientCertificate {
    /// Leaf first, without the root.
    pub chain: Vec<CertificateDer<'static>>,
    /// PKCS#8, DER.
    pub key_pkcs8: Vec<u8>,
    /// PKCS#8, PEM.
    pub key_pem: String,
    name: String,
}

impl TestCa {
    /// A self-signed root.
    pub fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::self_signed(ca_params(name), key).unwrap();
        Self { issuer, above: Vec::new() }
    }

    /// An authority below this one.
    pub fn intermediate(&self, name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::signed_by(ca_params(name), key, &self.issuer).unwrap();
        let mut above = vec![issuer.der().clone()];
        above.extend(self.above.iter().cloned());
        Self { issuer, above }
    }

    /// The authority's certificate.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// The authority's certificate.
    pub fn der(&self) -> &CertificateDer<'static> {
        self.issuer.der()
    }

    /// A server certificate for these names and addresses.
    pub fn server(&self, hosts: &[&str], validity: Validity) -> ServerCertificate {
        let (params, key) = server_params(hosts, validity);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        self.server_certificate(certificate.der().clone(), &key)
    }

    /// A server certificate for loopback.
    pub fn loopback_server(&self) -> ServerCertificate {
        self.server(&["localhost", "127.0.0.1", "::1"], Validity::Current)
    }

    /// A server certificate for loopback that signs itself.
    pub fn self_signed_server() -> ServerCertificate {
        let (params, key) = server_params(&["localhost", "127.0.0.1"], Validity::Current);
        let certificate = params.self_signed(&key).unwrap();
        ServerCertificate { chain: vec![certificate.der().clone()], key: key_der(&key) }
    }

    fn server_certificate(
        &self,
        leaf: CertificateDer<'static>,
        key: &KeyPair,
    ) -> ServerCertificate {
        let mut chain = vec![leaf];
        chain.extend(self.above.iter().cloned());
        ServerCertificate { chain, key: key_der(key) }
    }

    /// A laboratory's certificate: P-256, valid, for client authentication.
    pub fn client(&self, name: &str) -> ClientCertificate {
        self.client_with(name, KeyKind::P256, Validity::Current, Purpose::ClientAuth)
    }

    /// A laboratory's certificate as described.
    pub fn client_with(
        &self,
        name: &str,
        kind: KeyKind,
        validity: Validity,
        purpose: Purpose,
    ) -> ClientCertificate {
        let key = KeyPair::generate_for(algorithm(kind)).unwrap();
        self.client_of(name, &key, validity, purpose)
    }

    /// Another certificate for the key of an existing one (a renewal).
    pub fn renewed(&self, of: &ClientCertificate, validity: Validity) -> ClientCertificate {
        let key = KeyPair::from_pem(&of.key_pem).unwrap();
        self.client_of(&of.name, &key, validity, Purpose::ClientAuth)
    }

    /// A certificate for a PKCS#8 key made elsewhere (RSA by OpenSSL).
    pub fn client_for_key(&self, name: &str, key_pem: &str) -> ClientCertificate {
        let key = KeyPair::from_pem(key_pem).unwrap();
        self.client_of(name, &key, Validity::Current, Purpose::ClientAuth)
    }

    fn client_of(
        &self,
        name: &str,
        key: &KeyPair,
        validity: Validity,
        purpose: Purpose,
    ) -> ClientCertificate {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.distinguished_name.push(DnType::OrganizationName, "Labor Beispiel");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = match purpose {
            Purpose::ClientAuth => vec![ExtendedKeyUsagePurpose::ClientAuth],
            Purpose::ServerAuth => vec![ExtendedKeyUsagePurpose::ServerAuth],
            Purpose::Unlimited => Vec::new(),
        };
        (params.not_before, params.not_after) = period(validity);
        let certificate = params.signed_by(key, &self.issuer).unwrap();
        let mut chain = vec![certificate.der().clone()];
        chain.extend(self.above.iter().cloned());
        ClientCertificate {
            chain,
            key_pkcs8: key.serialize_der(),
            key_pem: key.serialize_pem(),
            name: name.to_owned(),
        }
    }
}

impl ClientCertificate {
    /// The certificates as PEM, leaf first.
    pub fn chain_pem(&self) -> String {
        self.chain.iter().map(|der| pem_block("CERTIFICATE", der)).collect()
    }

    /// Certificates and key in one PEM file.
    pub fn pem(&self) -> String {
        format!("{}{}", self.chain_pem(), self.key_pem)
    }

    /// A `.p12` with modern encryption.
    pub fn p12(&self, password: &str) -> Vec<u8> {
        Self::p12_of(&[self], password)
    }

    /// A `.p12` that holds several keys with their certificates.
    pub fn p12_of(identities: &[&Self], password: &str) -> Vec<u8> {
        Self::p12_with_iterations(identities, password, 2048)
    }

    /// The same with a number of iterations for each derivation of a key.
    pub fn p12_with_iterations(identities: &[&Self], password: &str, iterations: u32) -> Vec<u8> {
        let mut store = KeyStore::new();
        for (index, identity) in identities.iter().enumerate() {
            let key = PrivateKey::from_der(&identity.key_pkcs8).unwrap();
            let chain = identity.chain.iter().map(|der| Certificate::from_der(der).unwrap());
            let id: &[u8] = &[1, index.to_le_bytes()[0]];
            let entry = PrivateKeyChain::new(id, key, chain);
            let alias = format!("{} {index}", identity.name);
            store.add_entry(&alias, KeyStoreEntry::PrivateKeyChain(entry));
        }
        let writer = store.writer(password).encryption_iterations(iterations);
        writer.mac_iterations(2048).write().unwrap()
    }
}

/// One PEM block.
pub(crate) fn pem_block(label: &str, der: &[u8]) -> String {
    use std::fmt::Write as _;
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = format!("-----BEGIN {label}-----\n");
    for line in der.chunks(48) {
        for group in line.chunks(3) {
            let bits = group.iter().fold(0u32, |all, byte| (all << 8) | u32::from(*byte))
                << (8 * (3 - group.len()));
            for position in 0..4 {
                let digit = match position <= group.len() {
                    true => char::from(DIGITS[(bits >> (18 - 6 * position) & 63) as usize]),
                    false => '=',
                };
                out.push(digit);
            }
        }
        out.push('\n');
    }
    writeln!(out, "-----END {label}-----").unwrap();
    out
}

fn ca_params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    (params.not_before, params.not_after) = period(Validity::Current);
    params
}

fn server_params(hosts: &[&str], validity: Validity) -> (CertificateParams, KeyPair) {
    let names: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, hosts.first().copied().unwrap_or("none"));
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    (params.not_before, params.not_after) = period(validity);
    (params, KeyPair::generate().unwrap())
}

fn period(validity: Validity) -> (OffsetDateTime, OffsetDateTime) {
    let (from, to) = match validity {
        Validity::Current => (2020, 2099),
        Validity::Expired => (2020, 2021),
        Validity::NotYet => (2098, 2099),
    };
    (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1))
}

fn algorithm(kind: KeyKind) -> &'static SignatureAlgorithm {
    match kind {
        KeyKind::P256 => &rcgen::PKCS_ECDSA_P256_SHA256,
        KeyKind::P384 => &rcgen::PKCS_ECDSA_P384_SHA384,
        KeyKind::Ed25519 => &rcgen::PKCS_ED25519,
    }
}

fn key_der(key: &KeyPair) -> PrivateKeyDer<'static> {
    PrivatePkcs8KeyDer::from(key.serialize_der()).into()
}

/// The first certificate of a PEM file.
///
/// # Panics
/// If there is none: the files are made by the tests themselves.
pub fn certificate_of_pem(file: &std::path::Path) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(&std::fs::read(file).unwrap()).unwrap()
}
