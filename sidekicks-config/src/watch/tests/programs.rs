//! Ways in which programs save a file that is no link.

use super::*;

fn plain(root: &Path) {
    fs::write(root.join("home/config"), "{0}\n").unwrap();
}

#[test]
fn written_in_place() {
    each_save_is_told_once(plain, |room, text| room.write(text));
}

#[test]
fn written_in_two_steps() {
    each_save_is_told_once(plain, |room, text| {
        let (first, _) = text.split_at(2);
        room.write(first);
        room.has_read(first);
        room.write(text);
    });
}

#[test]
fn by_a_shell() {
    each_save_is_told_once(plain, |room, text| room.run("sh", &["-c", "echo \"$0\" > config", text]));
}

#[test]
fn by_vim() {
    for how in ["auto", "no", "yes"] {
        if has("vim") {
            each_save_is_told_once(plain, |room, text| {
                let (option, edit) = (format!("set backupcopy={how}"), format!("%s/.*/{text}/"));
                let start = ["-N", "-u", "NONE", "-i", "NONE", "-es", "-c"];
                room.run("vim", &[&start[..], &[&option, "-c", &edit, "-c", "wq", "config"]].concat());
            });
        }
    }
}

/// It needs a terminal to run, so this does what it does: it writes in place, piece by piece.
#[test]
fn as_nano_does() {
    each_save_is_told_once(plain, |room, text| {
        let mut file = fs::OpenOptions::new().write(true).truncate(true).open(room.config()).unwrap();
        io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        io::Write::write_all(&mut file, b"\n").unwrap();
        file.sync_all().unwrap();
    });
}

#[test]
fn by_sed() {
    if has("sed") {
        each_save_is_told_once(plain, |room, text| {
            room.run("sed", &["-i", &format!("s/.*/{text}/"), "config"]);
        });
    }
}

#[test]
fn by_mv() {
    for other in ["home/new", "new"] {
        each_save_is_told_once(plain, |room, text| {
            fs::write(room.path(other), text).unwrap();
            room.run("mv", &[room.path(other).to_str().unwrap(), "config"]);
        });
    }
}

#[test]
fn removed_and_made_again() {
    each_save_is_told_once(plain, |room, text| {
        fs::remove_file(room.config()).unwrap();
        room.has_read("NotFound");
        room.write(text);
    });
}

#[test]
fn renamed_and_made_again_as_emacs_does() {
    each_save_is_told_once(plain, |room, text| {
        fs::rename(room.config(), room.path("home/config~")).unwrap();
        room.write(text);
    });
}

#[test]
fn by_a_checkout() {
    if !has("git") {
        return;
    }
    let git = |room: &Room, arguments: &[&str]| {
        let settings = ["-c", "user.name=n", "-c", "user.email=e", "-c", "core.hooksPath=none"];
        room.run("git", &[&settings[..], arguments].concat());
    };
    let room = Room::new(BY_HINTS);
    git(&room, &["init", "-q"]);
    for number in 1..=4 {
        room.write(&format!("{{{number}}}"));
        git(&room, &["add", "config"]);
        git(&room, &["commit", "-q", "-m", "a text"]);
        git(&room, &["branch", &format!("b{number}")]);
        assert_eq!(room.next(), format!("{{{number}}}"));
    }
    for number in 1..=3 {
        git(&room, &["checkout", "-q", &format!("b{number}")]);
        assert_eq!(room.next(), format!("{{{number}}}"));
    }
}

#[test]
fn by_ourselves() {
    each_save_is_told_once(plain, |room, text| {
        crate::replace::replace(&room.config(), text.as_bytes(), crate::replace::Before::Any, None).unwrap();
    });
}

#[test]
fn the_same_text_again_is_not_told() {
    let room = Room::new(BY_HINTS);
    for text in ["{1}", "{2}"] {
        room.run("touch", &["config"]);
        room.has_read("{0}");
        room.write("{0}");
        room.has_read("{0}");
        crate::replace::replace(&room.config(), b"{0}", crate::replace::Before::Any, None).unwrap();
        room.has_read("{0}");
        room.write(text);
        assert_eq!(room.next(), text);
        room.write("{0}");
        assert_eq!(room.next(), "{0}");
        while room.reads.try_recv().is_ok() {}
    }
}
