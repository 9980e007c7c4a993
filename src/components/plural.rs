//! The plural of a kind, by the rules of the inflection library that Cluster API uses.
//!
//! Cluster API's controllers look for the CRD of a kind under this plural (`util/contract`, with gobuffalo/flect 1.0), so
//! the rules count as they are, where they are no English too. Tables of ours, facts of theirs.

/// Endings that change in a way of their own: what goes, what comes, and the endings. The longest ending decides, and
/// words that end like a plural of the table are plurals already.
const ENDINGS: &[(&str, &str, &str)] = &[
    (
        "",
        "",
        "aircraft beef bison blues chassis deer fish moose police salmon series sheep shrimp species swine trout tuna you \
         media equipment information jeans money news rice graffiti",
    ),
    ("", "ren", "child"),
    ("an", "en", "man woman"),
    ("oot", "eet", "foot"),
    ("oose", "eese", "goose"),
    ("ouse", "ice", "mouse"),
    ("ooth", "eeth", "tooth"),
    ("rson", "ople", "person"),
    (
        "",
        "s",
        "human tive ay ey oy uy io ano lo to oo bureau stadium curriculum seum pretorium quota agenda formula vedalia \
         base abuse cause clause lause cruse excuse fuse house ouse misuse muse pause ache shoe dwarf hoof chive hive \
         move movie cookie",
    ),
    (
        "",
        "es",
        "us ch sh ss tz zz x o buffalo potato tomato topaz",
    ),
    ("", "zes", "ez iz"),
    ("", "x", "adieu fabliau eau"),
    ("y", "ies", "y quy"),
    ("f", "ves", "lf rf arf eaf oaf thief"),
    ("fe", "ves", "fe"),
    (
        "on",
        "a",
        "criterion ganglion lexicon mitochondrion noumenon phenomenon taxon hedron",
    ),
    (
        "um",
        "a",
        "ium eum oum dum elum ilum olum ulum llum ylum imum ernum gnum brum crum stracum terum serum trum antum atum \
         entum etum itum otum utum ctum ovum medium aquarium auditorium symposium",
    ),
    (
        "us",
        "i",
        "alumnus bacillus cactus coccus focus locus nucleus radius syllabus",
    ),
    ("us", "ora", "corpus"),
    ("us", "era", "genus"),
    ("opus", "upuses", "octopus"),
    (
        "a",
        "ae",
        "alumna vertebra differentia minutia vita larva postcava praecava uva bula",
    ),
    ("dula", "bulae", "dula"),
    ("lula", "bulae", "lula"),
    ("nula", "bulae", "nula"),
    ("vula", "bulae", "vula"),
    ("ex", "ices", "apex codex index latex vertex vortex"),
    ("ix", "ices", "appendix radix helix trix"),
    (
        "is",
        "es",
        "crisis ellipsis genesis oasis thesis testis basis iasis mesis kinesis resis gnosis opsis ysis",
    ),
];

/// Words that have a plural of their own, but lend it to no longer word.
const WORDS: &[(&str, &str)] = &[
    ("ox", "oxen"),
    ("louse", "lice"),
    ("die", "dice"),
    ("axis", "axes"),
    ("alias", "aliases"),
    ("use", "uses"),
    ("toe", "toes"),
    // Acronyms follow no ending.
    ("ssh", "sshs"),
    ("tia", "tias"),
    ("eia", "eias"),
];

/// Second plurals, which stay as they are.
const OTHER_PLURALS: &[&str] = &["octopi", "formulae", "adieus"];

/// Acronyms in S, which the library writes twice. A CRD cannot have such a name, so these kinds never pass.
const ACRONYMS_IN_S: &[&str] = &[
    "aes", "bss", "cmos", "des", "dns", "ess", "fcs", "https", "ids", "ips", "mpls", "pots",
];

/// Returns the plural of a lower-case kind.
pub fn plural(kind: &str) -> String {
    let start = kind.rfind('-').map_or(0, |hyphen| hyphen + 1);
    let (before, word) = kind.split_at(start);
    format!("{before}{}", plural_of_word(word))
}

fn plural_of_word(word: &str) -> String {
    if ACRONYMS_IN_S.contains(&word) {
        return format!("{word}{}es", word.to_uppercase());
    }
    if let Some((_, plural)) = WORDS.iter().find(|(singular, _)| *singular == word) {
        return (*plural).to_owned();
    }
    let is_plural =
        OTHER_PLURALS.contains(&word) || WORDS.iter().any(|(_, plural)| *plural == word);
    if word.is_empty() || is_plural {
        return word.to_owned();
    }
    by_ending(word).unwrap_or_else(|| match word.ends_with('s') {
        true => word.to_owned(),
        false => format!("{word}s"),
    })
}

/// Applies the longest ending of the table.
fn by_ending(word: &str) -> Option<String> {
    let mut best = (0, None);
    for (drop, add, endings) in ENDINGS {
        for ending in endings.split_whitespace() {
            if word.ends_with(ending) && ending.len() > best.0 {
                let stem = &word[..word.len() - drop.len()];
                best = (ending.len(), Some(format!("{stem}{add}")));
            }
            if let Some(ending) = plural_ending(word, ending, drop, add)
                && ending > best.0
            {
                best = (ending, Some(word.to_owned()));
            }
        }
    }
    best.1
}

/// Returns the length of the plural of an ending, if `word` ends so.
fn plural_ending(word: &str, ending: &str, drop: &str, add: &str) -> Option<usize> {
    let stem = &ending[..ending.len() - drop.len()];
    word.strip_suffix(add)?
        .ends_with(stem)
        .then_some(stem.len() + add.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair was confirmed by the library.
    #[test]
    fn plurals_are_those_of_the_library() {
        for (kind, expected) in [
            ("", ""),
            ("awsmachine", "awsmachines"),
            ("clusterclass", "clusterclasses"),
            ("inclusterippool", "inclusterippools"),
            ("machinehealthcheck", "machinehealthchecks"),
            ("openstackfloatingippool", "openstackfloatingippools"),
            ("proxy", "proxies"),
            ("gateway", "gateways"),
            ("chassis", "chassis"),
            ("machines", "machines"),
            ("dynamicindex", "dynamicindices"),
            ("medium", "media"),
            ("foreman", "foremen"),
            ("human", "humans"),
            ("house", "houses"),
            ("status", "statuses"),
            ("switch", "switches"),
            ("matrix", "matrices"),
            ("shelf", "shelves"),
            ("quiz", "quizzes"),
            ("cache", "caches"),
            ("price", "price"),
            ("specimen", "specimen"),
            ("metadata", "metadata"),
            ("analysis", "analyses"),
            ("ox", "oxen"),
            ("box", "boxes"),
            ("my-ox", "my-oxen"),
            ("myox", "myoxes"),
            ("ssh", "sshs"),
            ("dns", "dnsDNSes"),
            ("poddns", "poddns"),
        ] {
            assert_eq!(plural(kind), expected, "{kind}");
        }
    }

    #[test]
    fn endings_of_the_table_end_in_what_they_drop() {
        for (drop, _, endings) in ENDINGS {
            for ending in endings.split_whitespace() {
                assert!(ending.ends_with(drop), "{ending}");
            }
        }
    }
}
