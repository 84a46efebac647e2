//! What lies under a journal: on a file system of the network the locks of one computer are not seen by another,
//! and the memory that SQLite's log needs is not shared.

use std::path::Path;

/// Types of `/proc/self/mountinfo` that reach over a network.
const NETWORK: [&str; 16] = [
    "9p",
    "afs",
    "ceph",
    "cifs",
    "fuse.glusterfs",
    "fuse.s3fs",
    "fuse.sshfs",
    "glusterfs",
    "gfs2",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "smb3",
    "smbfs",
    "ocfs2",
];

/// Type of the file system that a path is on, as Linux names it; `None` elsewhere, or where it cannot be told.
pub fn file_system_of(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    let folder = path.ancestors().find_map(|it| it.canonicalize().ok())?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    kind(&mounts, &folder)
}

/// Whether several computers may reach the path, so that a journal must not lie there.
pub(crate) fn is_shared(path: &Path) -> bool {
    // Windows: a share is named by its server.
    let unc =
        path.to_str().is_some_and(|text| text.starts_with(r"\\") && !text.starts_with(r"\\?\"));
    unc || file_system_of(path).is_some_and(|kind| NETWORK.contains(&kind.as_str()))
}

/// The innermost mount over a folder decides; of several at one place the last one.
fn kind(mounts: &str, folder: &Path) -> Option<String> {
    let mut best: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        // `36 35 98:0 /root /mount options … - type source options`
        let Some((front, back)) = line.split_once(" - ") else { continue };
        let (Some(at), Some(kind)) = (front.split(' ').nth(4), back.split(' ').next()) else {
            continue;
        };
        let at = at.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
        let length = at.len();
        if folder.starts_with(&at) && best.is_none_or(|(known, _)| length >= known) {
            best = Some((length, kind));
        }
    }
    best.map(|(_, kind)| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
90 22 0:50 / /home rw,relatime - nfs4 server:/home rw
91 90 0:51 / /home/anna/my\\040disk rw - ext4 /dev/sdb1 rw
92 22 0:52 / /mnt/share rw master:3 - ext4 /dev/sdc1 rw
93 22 0:53 / /mnt/share rw - cifs //server/share rw
";

    #[test]
    fn the_innermost_and_last_mount_decides() {
        for (path, expected) in [
            ("/var/lib/labcourier", "ext4"),
            ("/home/anna/.local", "nfs4"),
            ("/homestead", "ext4"),
            ("/home/anna/my disk/profile", "ext4"),
            ("/mnt/share/profile", "cifs"),
        ] {
            assert_eq!(kind(MOUNTS, Path::new(path)).as_deref(), Some(expected), "{path}");
        }
        assert_eq!(kind("nonsense", Path::new("/")), None);
    }

    #[test]
    fn this_computers_own_folder_is_not_shared_and_a_share_is() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_shared(&folder.path().join("not/there/yet")));
        assert!(is_shared(Path::new(r"\\server\share\profile\journal.db")));
        assert!(NETWORK.iter().all(|kind| !kind.is_empty()));
    }
}
