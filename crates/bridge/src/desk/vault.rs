//! The laboratory's room on a computer without a keychain: its secrets rest in a file that a
//! passphrase seals. The passphrase is asked for at each start, and kept nowhere.

use identity::{Password, Secrets, SecretsKind};

use super::{Desk, Laboratory, make_laboratory, on_pool, open_laboratory};
use crate::limits;
use crate::problem::Problem;

impl Desk {
    /// Makes the laboratory's room, with its secrets sealed by a passphrase.
    ///
    /// # Errors
    /// `profile-exists` where there is one; `passphrase-weak`.
    pub async fn protect_with_passphrase(&self, passphrase: String) -> Result<(), Problem> {
        limits::line("passphrase", &passphrase)?;
        let passphrase = Password::from(passphrase);
        let _one_at_a_time = self.inner.opening.lock().await;
        let folder = self.laboratory_folder();
        if self.opened_or_tried().await?.is_some() {
            let folder = folder.display().to_string();
            return Err(Problem::new("profile-exists", &[("folder", &folder)], "vault"));
        }
        let made =
            on_pool(move || make_laboratory(&folder, SecretsKind::Passphrase, Some(&passphrase)));
        let engine = made.await??;
        self.set_laboratory(Laboratory::Open(engine.clone()));
        self.work(&engine).await;
        Ok(())
    }

    /// Seals the laboratory's secrets with another passphrase from now on. Whoever sits before a
    /// window that is open needs to know the one of before.
    ///
    /// # Errors
    /// `wrong-passphrase`; `passphrase-weak`; `no-vault` where there is nothing to seal.
    pub async fn change_vault_passphrase(
        &self,
        current: String,
        passphrase: String,
    ) -> Result<(), Problem> {
        limits::line("current", &current)?;
        limits::line("passphrase", &passphrase)?;
        let (current, passphrase) = (Password::from(current), Password::from(passphrase));
        let no_vault = || Problem::new("no-vault", &[], "vault");
        let engine = self.laboratory_engine().await?.ok_or_else(no_vault)?;
        let changed = on_pool(move || {
            let profile = engine.profile();
            let settings = &profile.settings;
            Secrets::open(settings.secrets, profile.folder(), &settings.id, Some(&current))?;
            engine.secrets().change_passphrase(&passphrase)
        });
        Ok(changed.await??)
    }

    /// Opens the laboratory's room with its passphrase; whoever worked in it goes on there.
    ///
    /// # Errors
    /// `wrong-passphrase`, and what else keeps the room closed.
    pub async fn open_vault(&self, passphrase: String) -> Result<(), Problem> {
        limits::line("passphrase", &passphrase)?;
        let passphrase = Password::from(passphrase);
        {
            let _one_at_a_time = self.inner.opening.lock().await;
            if self.opened_laboratory().is_some() {
                return Ok(());
            }
            let folder = self.laboratory_folder();
            match open_laboratory(folder, Some(passphrase)).await {
                Laboratory::Open(engine) => {
                    self.set_laboratory(Laboratory::Open(engine.clone()));
                    self.work(&engine).await;
                }
                // The status goes on saying why it is closed: a wrong passphrase is the slip of a
                // moment.
                Laboratory::Closed(problem) => return Err(problem),
                Laboratory::Absent => return Ok(()),
            }
        }
        if self.wants_laboratory() {
            self.move_to(false).await
        } else {
            self.read_certificate().await
        }
    }
}
