//! The authority's own certificate authority: server certificate and pilot certificates.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use fhir::Instant;
use p12_keystore::{
    Certificate as StoredCertificate, KeyStore, KeyStoreEntry, PrivateKey, PrivateKeyChain,
};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SerialNumber,
};
use rustls_pki_types::CertificateDer;
use sha2::{Digest, Sha256};
use time::Duration;

use crate::AuthorityError;
use crate::clock;
use crate::private;
use crate::store::Registry;

/// What `init` found or made.
#[derive(Debug, Clone)]
pub struct Initialised {
    /// `ca.pem`: what clients must trust.
    pub ca: PathBuf,
    /// The laboratories asked for, in that order.
    pub pilots: Vec<Pilot>,
}

/// A laboratory's pilot certificate on disk.
#[derive(Debug, Clone)]
pub struct Pilot {
    /// The laboratory's name.
    pub laboratory: String,
    /// `pilot/NAME.p12`: key, certificate and CA.
    pub p12: PathBuf,
    /// `pilot/NAME.password`: its password, without a line end.
    pub password: PathBuf,
    /// Whether this call made it.
    pub created: bool,
}

/// A certificate that `certificate issue` made.
#[derive(Debug, Clone)]
pub struct IssuedCertificate {
    /// SHA-256 of the certificate (DER), lower-case hexadecimal.
    pub fingerprint: String,
    /// `pilot/NAME-FINGERPRINT.p12`: key and certificate.
    pub p12: PathBuf,
    /// `pilot/NAME-FINGERPRINT.password`: its password, without a line end.
    pub password: PathBuf,
}

/// CA: 20 years.
const CA_DAYS: i64 = 20 * 365;
/// Longest validity that common trust evaluations accept of a server.
const SERVER_DAYS: i64 = 825;
/// Two years, as pilot certificates of the deployed service.
const PILOT_DAYS: i64 = 730;
/// A server certificate is made anew this long before its end.
const RENEWAL_DAYS: i64 = 30;

/// Prepares a data folder: certificate authority (`ca.pem`, `ca.key`), server certificate for
/// localhost, 127.0.0.1 and ::1, database, and a pilot certificate for each laboratory. What exists
/// is kept, so that laboratories can be added later. Keys and passwords are readable by the owner
/// only.
pub fn init(data: &Path, laboratories: &[String]) -> Result<Initialised, AuthorityError> {
    for name in laboratories {
        check_name(name)?;
    }
    let pilots = data.join("pilot");
    private::make_folder(&pilots).map_err(|source| file_error(&pilots, source))?;
    private::close_to_others(data);
    let ca = data.join("ca.pem");
    if !ca.exists() {
        make_ca(data)?;
    }
    ensure_server(data)?;
    let registry = Registry::open(data)?;
    let issuer = read_issuer(data)?;
    let mut made = Vec::with_capacity(laboratories.len());
    for name in laboratories {
        made.push(ensure_pilot(data, &issuer, &registry, name)?);
    }
    Ok(Initialised { ca, pilots: made })
}

/// Makes the server certificate where there is none or it ends soon.
pub(crate) fn ensure_server(data: &Path) -> Result<(), AuthorityError> {
    let path = data.join("server.pem");
    if path.exists() && !ends_soon(&path)? {
        return Ok(());
    }
    make_server(data)
}

fn make_server(data: &Path) -> Result<(), AuthorityError> {
    let path = data.join("server.pem");
    let issuer = read_issuer(data)?;
    let mut names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    names.extend(read_hosts(data)?);
    let mut params = CertificateParams::new(names).map_err(made("name the server"))?;
    describe(&mut params, "Lab Courier authority", SERVER_DAYS)?;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let key = KeyPair::generate().map_err(made("make the server's key"))?;
    let certificate =
        params.signed_by(&key, &issuer).map_err(made("sign the server's certificate"))?;
    write_file(&data.join("server.key"), key.serialize_pem().as_bytes())?;
    write_file(&path, certificate.pem().as_bytes())
}

/// File in the data folder: further names and addresses of this computer, one a line.
const HOSTS: &str = "hosts";

/// Adds names or addresses by which clients reach this computer, and makes the server certificate
/// anew; it is used from the next start on.
pub fn add_hosts(data: &Path, hosts: &[String]) -> Result<(), AuthorityError> {
    let mut all = read_hosts(data)?;
    for host in hosts {
        let fits = !host.is_empty()
            && host.len() <= 253
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':'));
        if !fits {
            return Err(AuthorityError::HostName(host.clone()));
        }
        if !all.contains(host) {
            all.push(host.clone());
        }
    }
    write_file(&data.join(HOSTS), (all.join("\n") + "\n").as_bytes())?;
    make_server(data)
}

fn read_hosts(data: &Path) -> Result<Vec<String>, AuthorityError> {
    let path = data.join(HOSTS);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(file_error(&path, source)),
    }
}

/// The certificate that a caller has shown.
#[derive(Debug)]
pub(crate) struct Presented {
    /// SHA-256, as the registry has it.
    pub(crate) fingerprint: String,
    /// Until when it is valid, and all that lead from it to the CA.
    pub(crate) valid_until: Instant,
}

impl Presented {
    /// From what came in the handshake.
    pub(crate) fn of(chain: &[CertificateDer<'_>]) -> Option<Self> {
        let fingerprint = fingerprint(chain.first()?);
        Some(Self { fingerprint, valid_until: valid_until(chain) })
    }
}

/// Until when all of these certificates are valid. One that cannot be read never is.
fn valid_until(chain: &[CertificateDer<'_>]) -> Instant {
    let end = |der: &CertificateDer<'_>| {
        let (_, certificate) = x509_parser::parse_x509_certificate(der).ok()?;
        Some(Instant(certificate.validity().not_after.timestamp().saturating_mul(1_000_000)))
    };
    chain.iter().map(|der| end(der).unwrap_or(Instant(i64::MIN))).min().unwrap_or(Instant(i64::MIN))
}

/// SHA-256 of a certificate (DER), in lower-case hexadecimal.
pub(crate) fn fingerprint(der: &[u8]) -> String {
    Sha256::digest(der).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn make_ca(data: &Path) -> Result<(), AuthorityError> {
    let mut params = CertificateParams::new(Vec::<String>::new())
        .map_err(made("name the certificate authority"))?;
    describe(&mut params, "Lab Courier authority CA", CA_DAYS)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate().map_err(made("make the CA's key"))?;
    let certificate = params.self_signed(&key).map_err(made("sign the CA's certificate"))?;
    // The key first: a CA certificate without its key could never be completed.
    write_file(&data.join("ca.key"), key.serialize_pem().as_bytes())?;
    write_file(&data.join("ca.pem"), certificate.pem().as_bytes())
}

fn read_issuer(data: &Path) -> Result<Issuer<'static, KeyPair>, AuthorityError> {
    let read = |name: &str| {
        let path = data.join(name);
        fs::read_to_string(&path).map_err(|source| file_error(&path, source))
    };
    let key = KeyPair::from_pem(&read("ca.key")?).map_err(made("read the CA's key"))?;
    Issuer::from_ca_cert_pem(&read("ca.pem")?, key).map_err(made("read the CA's certificate"))
}

fn ensure_pilot(
    data: &Path,
    issuer: &Issuer<'static, KeyPair>,
    registry: &Registry,
    name: &str,
) -> Result<Pilot, AuthorityError> {
    let p12 = data.join("pilot").join(format!("{name}.p12"));
    let password = data.join("pilot").join(format!("{name}.password"));
    let mut pilot = Pilot { laboratory: name.to_owned(), p12, password, created: false };
    if registry.knows(name)? && pilot.p12.exists() && pilot.password.exists() {
        return Ok(pilot);
    }
    let drawn = draw(issuer, name)?;
    drawn.keep(registry, name, &pilot.p12, &pilot.password)?;
    pilot.created = true;
    Ok(pilot)
}

/// One more certificate for a laboratory, in files of their own: `pilot/NAME-FINGERPRINT.p12`.
pub(crate) fn issue(
    data: &Path,
    registry: &Registry,
    name: &str,
) -> Result<IssuedCertificate, AuthorityError> {
    let drawn = draw(&read_issuer(data)?, name)?;
    let fingerprint = fingerprint(&drawn.der);
    let stem = format!("{name}-{}", &fingerprint[..12]);
    let p12 = data.join("pilot").join(format!("{stem}.p12"));
    let password = data.join("pilot").join(format!("{stem}.password"));
    drawn.keep(registry, name, &p12, &password)?;
    Ok(IssuedCertificate { fingerprint, p12, password })
}

/// A new certificate of a laboratory, with its key, packed.
struct Drawn {
    der: Vec<u8>,
    packed: Vec<u8>,
    secret: String,
}

impl Drawn {
    /// Writes the files, then registers: what is registered can be handed over.
    fn keep(
        &self,
        registry: &Registry,
        name: &str,
        p12: &Path,
        password: &Path,
    ) -> Result<(), AuthorityError> {
        write_file(password, self.secret.as_bytes())?;
        write_file(p12, &self.packed)?;
        register(registry, name, &self.der)?;
        Ok(())
    }
}

/// Registers a certificate (DER) for a laboratory; its fingerprint, and whether it is new.
pub(crate) fn register(
    registry: &Registry,
    name: &str,
    der: &[u8],
) -> Result<(String, bool), AuthorityError> {
    let (_, certificate) =
        x509_parser::parse_x509_certificate(der).map_err(made("read a certificate"))?;
    let validity = certificate.validity();
    let micros = |seconds: i64| Instant(seconds.saturating_mul(1_000_000));
    let (issued, end) =
        (micros(validity.not_before.timestamp()), micros(validity.not_after.timestamp()));
    let fingerprint = fingerprint(der);
    let added = registry.register(name, &fingerprint, issued, end)?;
    Ok((fingerprint, added))
}

fn draw(issuer: &Issuer<'static, KeyPair>, name: &str) -> Result<Drawn, AuthorityError> {
    let mut params =
        CertificateParams::new(Vec::<String>::new()).map_err(made("name the laboratory"))?;
    describe(&mut params, name, PILOT_DAYS)?;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let key = KeyPair::generate().map_err(made("make a laboratory's key"))?;
    let certificate =
        params.signed_by(&key, issuer).map_err(made("sign a laboratory's certificate"))?;
    let secret = random_word()?;
    let stored =
        StoredCertificate::from_der(certificate.der()).map_err(made("pack a certificate"))?;
    let private = PrivateKey::from_der(key.serialized_der()).map_err(made("pack a key"))?;
    let mut keystore = KeyStore::new();
    let chain =
        PrivateKeyChain::new(Sha256::digest(certificate.der())[..20].to_vec(), private, [stored]);
    keystore.add_entry(name, KeyStoreEntry::PrivateKeyChain(chain));
    let packed = keystore.writer(&secret).write().map_err(made("pack a pilot certificate"))?;
    Ok(Drawn { der: certificate.der().to_vec(), packed, secret })
}

pub(crate) fn check_name(name: &str) -> Result<(), AuthorityError> {
    let fits = !name.is_empty()
        && name.len() <= 64
        && !name.starts_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    if fits { Ok(()) } else { Err(AuthorityError::LaboratoryName(name.to_owned())) }
}

fn describe(
    params: &mut CertificateParams,
    common_name: &str,
    days: i64,
) -> Result<(), AuthorityError> {
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.distinguished_name.push(DnType::OrganizationName, "Lab Courier");
    let now = clock::utc();
    // Computers on one desk disagree about the time by minutes.
    params.not_before = now - Duration::hours(1);
    params.not_after = now + Duration::days(days);
    params.serial_number = Some(SerialNumber::from_slice(&random::<16>()?));
    params.use_authority_key_identifier_extension = true;
    Ok(())
}

fn ends_soon(path: &Path) -> Result<bool, AuthorityError> {
    let pem = fs::read(path).map_err(|source| file_error(path, source))?;
    let (_, block) =
        x509_parser::pem::parse_x509_pem(&pem).map_err(made("read the server's certificate"))?;
    let certificate = block.parse_x509().map_err(made("read the server's certificate"))?;
    let end = certificate.validity().not_after.timestamp();
    Ok(end < (clock::utc() + Duration::days(RENEWAL_DAYS)).unix_timestamp())
}

fn random<const N: usize>() -> Result<[u8; N], AuthorityError> {
    let mut bytes = [0u8; N];
    getrandom::fill(&mut bytes).map_err(made("draw random numbers"))?;
    // A serial number must be positive and must not lose a leading zero.
    bytes[0] = bytes[0] & 0x7f | 0x40;
    Ok(bytes)
}

/// 24 letters and digits without those that look alike: 117 bits.
fn random_word() -> Result<String, AuthorityError> {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let bytes = random::<24>()?;
    Ok(bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect())
}

fn made<E>(operation: &'static str) -> impl Fn(E) -> AuthorityError
where
    E: std::fmt::Display,
{
    move |source| {
        // Some of these are no `Error`. Errors that borrow their input cannot be kept; their words
        // can.
        AuthorityError::Certificate { operation, source: source.to_string().into() }
    }
}

fn file_error(path: &Path, source: std::io::Error) -> AuthorityError {
    AuthorityError::File { path: path.to_owned(), source }
}

/// Writes beside and renames: a file is whole or absent. What is not secret is closed too: it is
/// handed over, and not read in this folder.
fn write_file(path: &Path, bytes: &[u8]) -> Result<(), AuthorityError> {
    let beside = path.with_added_extension("part");
    let written = (|| {
        let mut file = private::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    })();
    written.map_err(|source| file_error(path, source))
}
