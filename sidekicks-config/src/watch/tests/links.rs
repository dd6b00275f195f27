//! Links and directories on the way to the file.

use super::*;

/// `home/config` is a link to `store/text`.
fn link(root: &Path) {
    fs::create_dir(root.join("store")).unwrap();
    fs::write(root.join("store/text"), "{0}").unwrap();
    symlink("../store/text", root.join("home/config")).unwrap();
}

/// Puts another link in the place of this one, in one step.
fn repoint(link: &Path, to: &str) {
    let new = link.with_file_name("new link");
    symlink(to, &new).unwrap();
    fs::rename(new, link).unwrap();
}

#[test]
fn the_target_is_written() {
    each_save_is_told_once(link, |room, text| fs::write(room.path("store/text"), text).unwrap());
}

#[test]
fn the_target_is_replaced() {
    each_save_is_told_once(link, |room, text| {
        fs::write(room.path("store/new"), text).unwrap();
        fs::rename(room.path("store/new"), room.path("store/text")).unwrap();
    });
}

#[test]
fn the_link_leads_elsewhere() {
    each_save_is_told_once(link, |room, text| {
        fs::write(room.path("store").join(text), text).unwrap();
        room.run("ln", &["-sfn", &format!("../store/{text}"), "config"]);
    });
}

#[test]
fn the_link_leads_to_another_directory_and_that_file_is_written() {
    each_save_is_told_once(link, |room, text| {
        if text == "{1}" {
            fs::create_dir(room.path("other")).unwrap();
            fs::write(room.path("other/text"), text).unwrap();
            repoint(&room.config(), "../other/text");
        } else {
            fs::write(room.path("other/text"), text).unwrap();
        }
    });
}

#[test]
fn the_target_of_a_dangling_link_is_made() {
    each_save_is_told_once(
        |root| {
            fs::create_dir(root.join("store")).unwrap();
            symlink("../store/text", root.join("home/config")).unwrap();
        },
        |room, text| fs::write(room.path("store/text"), text).unwrap(),
    );
}

#[test]
fn the_directory_is_a_link() {
    each_save_is_told_once(
        |root| {
            fs::remove_dir(root.join("home")).unwrap();
            fs::create_dir(root.join("store")).unwrap();
            fs::write(root.join("store/config"), "{0}").unwrap();
            symlink("store", root.join("home")).unwrap();
        },
        |room, text| {
            fs::write(room.path("store/new"), text).unwrap();
            fs::rename(room.path("store/new"), room.path("store/config")).unwrap();
        },
    );
}

/// Kubernetes: `config` is a link through `..data`, which is a link to a folder of each version.
#[test]
fn all_files_of_a_folder_are_swapped() {
    let version = |home: &Path, text: &str| {
        let folder = home.join(format!("..{text}"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("config"), text).unwrap();
    };
    each_save_is_told_once(
        |root| {
            let home = root.join("home");
            version(&home, "{0}");
            symlink("..{0}", home.join("..data")).unwrap();
            symlink("..data/config", home.join("config")).unwrap();
        },
        |room, text| {
            let home = room.path("home");
            let old = fs::read_link(home.join("..data")).unwrap();
            version(&home, text);
            repoint(&home.join("..data"), &format!("..{text}"));
            fs::remove_dir_all(home.join(old)).unwrap();
        },
    );
}

/// home-manager: the file is a link through a profile, whose link is swapped two levels up.
#[test]
fn a_generation_is_swapped() {
    let generation = |root: &Path, text: &str| {
        let folder = root.join("store").join(text).join("files");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config"), text).unwrap();
        // As in a store, where all files have one time.
        let file = fs::File::open(folder.join("config")).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
    };
    each_save_is_told_once(
        |root| {
            generation(root, "{0}");
            fs::create_dir(root.join("profiles")).unwrap();
            symlink("../store/{0}", root.join("profiles/current")).unwrap();
            symlink("../profiles/current/files/config", root.join("home/config")).unwrap();
        },
        |room, text| {
            generation(&room.root, text);
            repoint(&room.path("profiles/current"), &format!("../store/{text}"));
        },
    );
}

#[test]
fn the_directory_is_removed_and_made_again() {
    each_save_is_told_once(
        |root| fs::write(root.join("home/config"), "{0}").unwrap(),
        |room, text| {
            fs::remove_dir_all(room.path("home")).unwrap();
            room.has_read("NotFound");
            fs::create_dir(room.path("home")).unwrap();
            room.write(text);
        },
    );
}

#[test]
fn the_directory_is_renamed_away_and_back() {
    each_save_is_told_once(
        |root| fs::write(root.join("home/config"), "{0}").unwrap(),
        |room, text| {
            fs::rename(room.path("home"), room.path("away")).unwrap();
            room.has_read("NotFound");
            fs::rename(room.path("away"), room.path("home")).unwrap();
            room.write(text);
        },
    );
}

#[test]
fn another_directory_takes_its_place() {
    each_save_is_told_once(
        |root| fs::write(root.join("home/config"), "{0}").unwrap(),
        |room, text| {
            fs::create_dir(room.path("other")).unwrap();
            fs::write(room.path("other/config"), text).unwrap();
            fs::rename(room.path("home"), room.path(text)).unwrap();
            fs::rename(room.path("other"), room.path("home")).unwrap();
        },
    );
}

#[test]
fn neither_file_nor_directories_are_there_at_first() {
    each_save_is_told_once(
        |root| fs::remove_dir(root.join("home")).unwrap(),
        |room, text| {
            fs::create_dir_all(room.path("home")).unwrap();
            room.write(text);
        },
    );
}
