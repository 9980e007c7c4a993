//! Certificates for a control plane and for what stands in front of it; all keys are ECDSA P-256.

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

/// A certificate authority that lives as long as its control plane.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate and its private key, both as PEM.
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new(name: &str) -> Result<Self> {
        let mut params = named(name, &[])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let pem = params.self_signed(&key)?.pem();
        Ok(Self {
            issuer: Issuer::new(params, key),
            pem,
        })
    }

    /// Returns the authority's own certificate as PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Issues a certificate for a server with these DNS names and IP addresses.
    pub fn issue_server(&self, name: &str, hosts: &[&str]) -> Result<Identity> {
        let mut params = named(name, hosts)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.issue(params)
    }

    /// Issues a certificate by which a client is `user`, a member of `group`.
    pub fn issue_client(&self, user: &str, group: &str) -> Result<Identity> {
        let mut params = named(user, &[])?;
        params
            .distinguished_name
            .push(DnType::OrganizationName, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(params)
    }

    fn issue(&self, params: CertificateParams) -> Result<Identity> {
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}

/// Makes a server certificate that vouches for itself, as cert-manager's issuers of type `selfSigned` do.
pub fn self_signed(name: &str, hosts: &[&str]) -> Result<Identity> {
    let mut params = named(name, hosts)?;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    Ok(Identity {
        certificate: params.self_signed(&key)?.pem(),
        key: key.serialize_pem(),
    })
}

/// Makes a pair of keys and returns them as PEM, the private one first.
pub fn generate_keys() -> Result<(String, String)> {
    let keys = KeyPair::generate()?;
    Ok((keys.serialize_pem(), keys.public_key_pem()))
}

fn named(name: &str, hosts: &[&str]) -> Result<CertificateParams> {
    let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
    let mut params = CertificateParams::new(hosts)?; // tells IP addresses from names
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}
