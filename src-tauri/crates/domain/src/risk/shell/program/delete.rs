use super::super::super::RiskLevel::{High, Low, Medium};
use super::super::super::note::RiskCode::{Deletes, ErasesDisk, LeavesFolder};
use super::super::super::place::Place;
use super::super::judge::{Call, Does, Judge};

/// How much of a place goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Single files.
    Files,
    /// Folders with all that is in them.
    Folders,
}

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>, _: &mut Does) -> bool {
    let flags = call.flags();
    match call.program {
        "rm" | "grm" | "rimraf" | "del-cli" | "trash" | "trash-put" | "unlink" | "srm" => {
            let recursive =
                flags.short('r') || flags.short('R') || flags.long("--recursive") || call.program == "rimraf";
            let reach = if recursive { Reach::Folders } else { Reach::Files };
            let paths = flags.operands("", &[]);
            if paths.is_empty() && !flags.long("--help") {
                judge.note(Deletes, Medium, "Deletes files that cannot be seen here.", &call.part);
            }
            for path in paths {
                deletes(judge, call, &path.text, reach);
                if path.pattern {
                    judge.note(Deletes, Medium, "Deletes every file that fits a pattern.", &call.part);
                }
            }
        }
        "rmdir" | "grmdir" => {
            judge.note(Deletes, Low, "Deletes empty folders.", &call.part);
        }
        "shred" => {
            judge.note(Deletes, Medium, "Overwrites files so that nothing can bring them back.", &call.part);
            for path in flags.operands("ns", &["--iterations", "--size"]) {
                deletes(judge, call, &path.text, Reach::Files);
            }
        }
        "mkfs" | "fdisk" | "sfdisk" | "gdisk" | "sgdisk" | "cfdisk" | "parted" | "wipefs" | "blkdiscard"
        | "mkswap" | "hdparm" | "nvme" | "cryptsetup" | "lvremove" | "vgremove" | "pvremove" | "zpool"
        | "mdadm" | "badblocks" | "diskutil" | "newfs" => {
            let looks = flags.short('l') || flags.word("list") || flags.word("status") || flags.word("info");
            let level = if looks { Low } else { High };
            judge.note(ErasesDisk, level, "Works on disks and their partitions.", &call.part);
        }
        program if program.starts_with("mkfs.") || program.starts_with("newfs_") => {
            judge.note(ErasesDisk, High, "Works on disks and their partitions.", &call.part);
        }
        _ => return false,
    }
    true
}

/// Something is deleted at a path.
pub(super) fn deletes(judge: &mut Judge<'_>, call: &Call<'_>, path: &str, reach: Reach) {
    let place = judge.folders.place(path);
    let part = &call.part;
    if place >= Place::Outside {
        judge.note(
            LeavesFolder,
            if place == Place::Outside { Medium } else { High },
            "Reaches outside the folder.",
            part,
        );
    }
    match (place, reach) {
        (Place::Nowhere, _) => {}
        (Place::Disk | Place::Vital, _) => {
            judge.note(Deletes, High, "Deletes parts of the system, or a whole home or disk.", part);
        }
        (Place::Outside, Reach::Folders) => {
            judge.note(Deletes, High, "Deletes folders outside the agent's folder.", part)
        }
        (Place::Outside, Reach::Files) => {
            judge.note(Deletes, High, "Deletes files outside the agent's folder.", part)
        }
        (Place::Whole, Reach::Folders) => {
            judge.note(Deletes, High, "Deletes everything in the folder, or its history.", part);
        }
        (Place::Unseen, Reach::Folders) => {
            judge.note(Deletes, High, "Deletes folders that cannot be seen here.", part);
        }
        (Place::Inside, Reach::Folders) => {
            judge.note(Deletes, High, "Deletes folders with everything in them.", part);
        }
        (Place::Rebuilt | Place::Temporary, Reach::Folders) => {
            judge.note(Deletes, Medium, "Deletes folders of a kind that can usually be made again.", part);
        }
        (Place::Whole, Reach::Files) => {
            judge.note(Deletes, Medium, "Deletes files all over the folder.", part)
        }
        (Place::Unseen, Reach::Files) => {
            judge.note(Deletes, Medium, "Deletes files that cannot be seen here.", part)
        }
        (Place::Inside | Place::Rebuilt | Place::Temporary, Reach::Files) => {
            judge.note(Deletes, Low, "Deletes files.", part);
        }
    }
}
