//! What lies under a journal: on a file system of the network the locks of one computer are not
//! seen by another, and the memory that SQLite's log needs is not shared.

use std::path::Path;

/// Types of `/proc/self/mountinfo` that reach over a network, or to the computer around a virtual
/// one, which others may reach too.
const SHARED: [&str; 28] = [
    "9p",
    "acfs",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "davfs",
    "fhgfs",
    "gfs2",
    "glusterfs",
    "gpfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "panfs",
    "prl_fs",
    "pvfs2",
    "smb3",
    "smbfs",
    "vboxsf",
    "virtiofs",
    "vmhgfs",
    "wekafs",
    "xtreemfs",
];

/// The same of programs that give a file system by FUSE: the type is `fuse.` and their name.
const SHARED_BY_FUSE: [&str; 22] = [
    "beegfs",
    "ceph",
    "ceph-fuse",
    "curlftpfs",
    "davfs2",
    "gcsfuse",
    "glusterfs",
    "goofys",
    "gvfsd-fuse",
    "juicefs",
    "kio-fuse",
    "mfs",
    "moosefs",
    "onedriver",
    "rclone",
    "s3fs",
    "saunafs",
    "seaweedfs",
    "smbnetfs",
    "sshfs",
    "vmhgfs-fuse",
    "xtreemfs",
];

/// Type of the file system that a path is on, as Linux names it; `None` elsewhere, or where it
/// cannot be told.
pub fn file_system_of(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    let folder = path.ancestors().find_map(|it| it.canonicalize().ok())?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    kind(&mounts, &folder)
}

/// Whether several computers may reach the path, so that a journal must not lie there.
pub(crate) fn is_shared(path: &Path) -> bool {
    let is_on_windows = cfg!(windows);
    let named = path.to_str().map(|text| match is_on_windows {
        true => text.replace('/', r"\"),
        false => text.to_owned(),
    });
    named.is_some_and(|path| is_of_a_server(&path))
        || file_system_of(path).is_some_and(|kind| is_shared_kind(&kind))
}

/// Windows: a share is named by its server, also in the long form. What begins otherwise with
/// `\\?\` or `\\.\` is a disk of this computer.
fn is_of_a_server(path: &str) -> bool {
    let Some(rest) = path.strip_prefix(r"\\") else { return false };
    let device = rest.strip_prefix(r"?\").or_else(|| rest.strip_prefix(r".\"));
    device.is_none_or(|named| named.get(..4).is_some_and(|unc| unc.eq_ignore_ascii_case(r"UNC\")))
}

fn is_shared_kind(kind: &str) -> bool {
    match kind.strip_prefix("fuse.") {
        Some(program) => SHARED_BY_FUSE.contains(&program) || SHARED.contains(&program),
        None => SHARED.contains(&kind),
    }
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
    }

    #[test]
    fn what_several_computers_may_reach_is_shared() {
        let shared = [
            "9p",
            "afs",
            "beegfs",
            "ceph",
            "cifs",
            "davfs",
            "gfs2",
            "glusterfs",
            "gpfs",
            "lustre",
            "ncpfs",
            "nfs",
            "nfs4",
            "ocfs2",
            "smb3",
            "smbfs",
            "vboxsf",
            "virtiofs",
            "fuse.sshfs",
            "fuse.ceph",
            "fuse.glusterfs",
            "fuse.rclone",
            "fuse.s3fs",
            "fuse.vmhgfs-fuse",
            "fuse.davfs2",
            "fuse.gvfsd-fuse",
            "fuse.juicefs",
        ];
        let own = [
            "ext4",
            "xfs",
            "btrfs",
            "zfs",
            "overlay",
            "tmpfs",
            "vfat",
            "exfat",
            "ntfs3",
            "fuseblk",
            "fuse.ntfs-3g",
            "fuse.gocryptfs",
            "fuse.encfs",
            "fuse.mergerfs",
            "fuse.portal",
            "ecryptfs",
        ];
        for kind in shared {
            assert!(is_shared_kind(kind), "{kind}");
        }
        for kind in own {
            assert!(!is_shared_kind(kind), "{kind}");
        }
        let sorted = |all: &[&str]| all.windows(2).all(|two| two[0] < two[1]);
        assert!(sorted(&SHARED) && sorted(&SHARED_BY_FUSE), "each once, and easy to find");
    }

    #[test]
    fn a_share_of_windows_is_named_by_its_server() {
        for (path, expected) in [
            (r"\\server\share\journal.db", true),
            // On Linux and macOS a folder of this computer.
            ("//server/share/journal.db", false),
            (r"\\?\UNC\server\share\journal.db", true),
            (r"\\?\unc\server\share\journal.db", true),
            (r"\\.\UNC\server\share\journal.db", true),
            (r"\\wsl$\Ubuntu\home\journal.db", true),
            (r"\\?\C:\Users\anna\journal.db", false),
            (r"\\?\Volume{b75e2c83-0000-0000-0000-602f00000000}\journal.db", false),
            (r"\\.\C:\journal.db", false),
            (r"C:\Users\anna\journal.db", false),
            ("/home/anna/journal.db", false),
        ] {
            assert_eq!(is_of_a_server(path), expected, "{path}");
        }
    }
}
