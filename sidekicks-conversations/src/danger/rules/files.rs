//! Files, disks and rights.

use crate::danger::args::{Args, Spec, Until};
use crate::danger::reason::{Found, Reason};
use crate::danger::tree::Word;

pub(super) fn look(name: &str, words: &[Word], found: &mut Found) {
    let reason = match name {
        "rm" | "unlink" | "shred" | "srm" | "rimraf" => Reason::DeletesFiles,
        "mv" => Reason::MovesFiles,
        "truncate" => Reason::OverwritesFile,
        "dd" | "wipefs" | "blkdiscard" | "mke2fs" | "mkswap" => Reason::WritesDisk,
        "dropdb" => Reason::DropsData,
        "tee" => return tee(words, found),
        "cp" => return copy(words, found),
        "chmod" | "chown" | "chgrp" => return rights(words, found),
        "crontab" => return crontab(words, found),
        "find" | "gfind" => return find(words, found),
        "rsync" => return rsync(words, found),
        name if name == "mkfs" || name.starts_with("mkfs.") => Reason::WritesDisk,
        _ => return,
    };
    found.flag(reason, words[0].span);
}

fn tee(words: &[Word], found: &mut Found) {
    let args = Args::of(words, 1, Spec::default(), Until::Separator);
    let is_file = |word: &Word| word.keeps() && word.text() != "-";
    if !args.has(&["a", "append"]) && args.operands.iter().any(|&at| is_file(&words[at])) {
        found.flag(Reason::OverwritesFile, words[0].span);
    }
}

/// A copy of nothing empties a file.
fn copy(words: &[Word], found: &mut Found) {
    let args = Args::of(words, 1, Spec { short: "tS", ..Spec::default() }, Until::Separator);
    if let Some(&source) = args.operands.first().filter(|&&at| words[at].text() == "/dev/null") {
        found.flag_to(Reason::OverwritesFile, words, source);
    }
}

fn rights(words: &[Word], found: &mut Found) {
    let args = Args::of(words, 1, Spec::default(), Until::Separator);
    if let Some(recursive) = args.at(&["R", "recursive"]) {
        found.flag_to(Reason::ChangesRights, words, recursive);
    }
}

fn crontab(words: &[Word], found: &mut Found) {
    let args = Args::of(words, 1, Spec { short: "u", ..Spec::default() }, Until::Separator);
    if let Some(all) = args.at(&["r"]) {
        found.flag_to(Reason::ClearsCrontab, words, all);
    }
}

fn find(words: &[Word], found: &mut Found) {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.text() {
            "-delete" => found.flag_to(Reason::DeletesFiles, words, at),
            "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
                found.flag_to(Reason::OverwritesFile, words, (at + 1).min(words.len() - 1));
                at += 1;
            }
            // What is run is looked at by itself.
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let ends = |place: usize| match words[place].text() {
                    ";" => true,
                    "+" => words[place - 1].text() == "{}",
                    _ => false,
                };
                at = (at + 1..words.len()).find(|&place| ends(place)).unwrap_or(words.len());
            }
            text if takes_value(text) => at += 1,
            _ => {}
        }
        at += 1;
    }
}

fn takes_value(test: &str) -> bool {
    let tests = [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-iwholename",
        "-regex",
        "-iregex",
        "-lname",
        "-ilname",
        "-type",
        "-xtype",
        "-size",
        "-user",
        "-group",
        "-perm",
        "-mtime",
        "-atime",
        "-ctime",
        "-mmin",
        "-amin",
        "-cmin",
        "-maxdepth",
        "-mindepth",
        "-newer",
        "-anewer",
        "-cnewer",
        "-samefile",
        "-inum",
        "-links",
        "-uid",
        "-gid",
        "-fstype",
        "-used",
        "-printf",
        "-regextype",
        "-D",
        "-files0-from",
    ];
    tests.contains(&test) || test.starts_with("-newer")
}

fn rsync(words: &[Word], found: &mut Found) {
    let spec = Spec {
        short: "eBTf",
        attached: "M",
        long: &[
            "rsh",
            "exclude",
            "include",
            "filter",
            "files-from",
            "exclude-from",
            "include-from",
            "rsync-path",
            "log-file",
        ],
    };
    let args = Args::of(words, 1, spec, Until::Separator);
    let deletes = |name: &str| name == "del" || name.starts_with("delete") || name == "remove-source-files";
    let deleting = args.options.iter().find(|option| deletes(&option.name)).map(|option| option.at);
    if let Some(at) = deleting.filter(|_| !args.has(&["n", "dry-run"])) {
        found.flag_to(Reason::DeletesFiles, words, at);
    }
}
