use std::os::unix::fs::symlink;

use super::*;

/// Where `path` below a folder with these links leads, and the directories on the way, relative to that folder.
fn followed(path: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("real/sub")).unwrap();
    fs::create_dir(root.join("home")).unwrap();
    fs::write(root.join("real/file"), "").unwrap();
    for (link, to) in [
        ("home/file", "../real/file"),
        ("home/again", "file"),
        ("home/folder", "../real"),
        ("home/dangling", "../real/new"),
        ("home/lost", "../gone/new"),
        ("home/loop", "loop"),
        ("home/out", "../real/sub/../file"),
    ] {
        symlink(to, root.join(link)).unwrap();
    }
    symlink(root.join("real/file"), root.join("home/absolute")).unwrap();
    let short = |path: &Path| path.strip_prefix(&root).map_or("?".into(), |path| path.display().to_string());
    let route = follow(&root.join(path));
    let end = match &route.end {
        Ok(end) => short(end),
        Err(error) => format!("{:?}", Errno::from_raw(error.raw_os_error().unwrap())),
    };
    (end, route.dirs.iter().map(|dir| short(dir)).collect())
}

#[test]
fn the_whole_chain_is_followed() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("real/file", "real/file", &["real"]),
        ("real/new", "real/new", &["real"]),
        ("real/gone/far/new", "real/gone/far/new", &["real"]),
        ("home/file", "real/file", &["home", "real"]),
        ("home/again", "real/file", &["home", "real"]),
        ("home/absolute", "real/file", &["home", "real"]),
        ("home/folder/file", "real/file", &["home", "real"]),
        ("home/folder/sub/../file", "real/file", &["home", "real"]),
        ("home/out", "real/file", &["home", "real"]),
        ("home/dangling", "real/new", &["home", "real"]),
        ("home/lost", "gone/new", &["", "home"]),
        ("home/loop", "ELOOP", &["home"]),
        ("home/file/below", "ENOTDIR", &["home", "real"]),
        ("home/./file", "real/file", &["home", "real"]),
    ];
    for (path, end, dirs) in cases {
        let found = followed(path);
        assert_eq!((found.0.as_str(), found.1), (*end, dirs.iter().map(ToString::to_string).collect()), "{path}");
    }
}

#[test]
fn forty_links_are_followed_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for number in 1..=41 {
        symlink(format!("link{}", number - 1), root.join(format!("link{number}"))).unwrap();
    }
    assert_eq!(follow(&root.join("link40")).end.unwrap(), root.join("link0"));
    assert!(follow(&root.join("link41")).end.is_err());
}

#[test]
fn a_relative_path_is_taken_from_the_current_directory() {
    let end = follow(Path::new("no such file")).end.unwrap();
    assert_eq!(end, std::env::current_dir().unwrap().canonicalize().unwrap().join("no such file"));
}
