//! Why something is dangerous, in words.

use sidekicks_conversations::DangerLevel;

use super::pair;

/// The reason by its code; a code that nobody knows is told by how sure it is.
pub(super) fn both(code: &str, level: DangerLevel) -> (String, String) {
    let (en, fr) = match code {
        "changes-rights" => {
            ("changes rights or owners of a whole folder", "change les droits ou le propriétaire de tout un dossier")
        }
        "clears-crontab" => ("deletes all planned commands", "supprime toutes les commandes planifiées"),
        "deletes-branch" => (
            "deletes a branch, perhaps with commits that are on no other",
            "supprime une branche, peut-être avec des commits qui ne sont sur aucune autre",
        ),
        "deletes-files" => ("deletes files for good", "supprime des fichiers définitivement"),
        "deletes-resources" => {
            ("deletes something that runs or is stored elsewhere", "supprime ce qui tourne ou est conservé ailleurs")
        }
        "discards-changes" => {
            ("throws away changes that are in no commit", "jette des modifications qui ne sont dans aucun commit")
        }
        "drops-data" => ("deletes data of a database", "supprime des données d’une base"),
        "drops-stash" => ("throws away work that was laid aside in Git", "jette du travail mis de côté dans Git"),
        "hidden-command" => {
            ("it cannot be told which command is run", "impossible de savoir quelle commande sera exécutée")
        }
        "moves-files" => ("moves files, perhaps over others", "déplace des fichiers, peut-être par-dessus d’autres"),
        "not-analysed" => (
            "was not looked into: it cannot be told what it does",
            "n’a pas été examiné\u{a0}: impossible de savoir ce que cela fait",
        ),
        "outside-workspace" => ("acts outside the agent’s folder", "agit hors du dossier de l’agent"),
        "overwrites-file" => ("empties a file or writes over it", "vide un fichier ou écrit par-dessus"),
        "removes-containers" => {
            ("removes containers, images, volumes or networks", "supprime des conteneurs, images, volumes ou réseaux")
        }
        "resets-index" => (
            "moves a branch or forgets what is staged; files stay",
            "déplace une branche ou vide l’index\u{202f}; les fichiers restent",
        ),
        "rewrites-history" => (
            "rewrites the history of Git, or deletes its record",
            "réécrit l’historique de Git ou en supprime la trace",
        ),
        "rewrites-remote" => (
            "overwrites or deletes a branch that others may have",
            "écrase ou supprime une branche que d’autres ont peut-être",
        ),
        "runs-unseen-input" => (
            "runs what nobody has seen: it cannot be told what that does",
            "exécute ce que personne n’a vu\u{a0}: impossible de savoir ce que cela fait",
        ),
        "too-complex" => (
            "too long or too nested: it cannot be told what it does",
            "trop long ou trop imbriqué\u{a0}: impossible de savoir ce que cela fait",
        ),
        "touches-git" => (
            "changes a .git folder, of which Git runs files as programs",
            "modifie un dossier .git, dont Git exécute des fichiers",
        ),
        "touches-keys" => {
            ("reads or changes a file with keys or passwords", "lit ou modifie un fichier de clés ou de mots de passe")
        }
        "touches-shell-start" => {
            ("changes what every new shell runs", "modifie ce que chaque nouveau terminal exécute")
        }
        "unreadable" => (
            "no command that can be read: it cannot be told what it does",
            "commande illisible\u{a0}: impossible de savoir ce qu’elle fait",
        ),
        "writes-disk" => ("formats a disk or writes to it directly", "formate un disque ou y écrit directement"),
        _ => match level {
            DangerLevel::Destructive => ("may destroy data", "peut détruire des données"),
            _ => ("it cannot be told what this does", "impossible de savoir ce que cela fait"),
        },
    };
    pair(en, fr)
}
