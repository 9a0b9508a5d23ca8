//! Encodes the results of the root set; `js/backends/local/local-unpack.ts` decodes them.

use filewright_core::pack::Packed;
use filewright_core::text::path::encode_name;
use filewright_fs::dir::stat::{Kind, Stat};
use filewright_fs::dir::tree::TreeCounts;
use filewright_fs::walk::list::{DirEntry, DirPage};
use filewright_fs::walk::list_tree::{TreeEntry, TreePage};
use filewright_fs::write::Written;

/// Milliseconds with fraction.
fn millis(nanos: i64) -> f64 {
    nanos.div_euclid(1_000_000) as f64 + nanos.rem_euclid(1_000_000) as f64 / 1e6
}

/// `kind size mode nlink mtime ctime atime birth(or NaN) version`.
pub(crate) fn pack_stat(stat: &Stat) -> Packed {
    let mut packed = Packed::new();
    packed.num(stat.kind.number());
    packed.num(stat.size);
    packed.num(stat.mode.into());
    packed.num(stat.nlink);
    for time in [stat.mtime, stat.ctime, stat.atime] {
        packed.float(millis(time));
    }
    packed.float(stat.birth.map_or(f64::NAN, millis));
    packed.str(&stat.version().to_string());
    packed
}

/// The metadata, then `created other_names in_place`.
pub(crate) fn pack_written(written: &Written) -> Packed {
    let mut packed = pack_stat(&written.stat);
    packed.flag(written.created);
    packed.num(written.other_names);
    packed.flag(written.in_place);
    packed
}

/// `files directories bytes`.
pub(crate) fn pack_counts(counts: TreeCounts) -> Packed {
    let mut packed = Packed::new();
    packed.num(counts.files);
    packed.num(counts.directories);
    packed.num(counts.bytes);
    packed
}

/// `kind size(or -1) mtime shown target?`.
fn pack_entry(
    packed: &mut Packed,
    kind: Kind,
    stat: Option<Stat>,
    shown: &str,
    target: Option<&[u8]>,
) {
    packed.num(kind.number());
    packed.opt(stat.map(|stat| stat.size));
    packed.float(stat.map_or(0.0, |stat| millis(stat.mtime)));
    packed.str(shown);
    packed.opt_str(target.map(encode_name).as_deref());
}

/// `total more count`, then for each entry `kind size(or -1) mtime name target?`.
pub(crate) fn pack_listing(listing: &DirPage) -> Packed {
    let mut packed = Packed::new();
    packed.num(listing.total);
    packed.flag(listing.more);
    packed.num(listing.entries.len() as u64);
    for entry in &listing.entries {
        let DirEntry { name, kind, stat, target } = entry;
        pack_entry(&mut packed, *kind, *stat, &encode_name(name), target.as_deref());
    }
    packed
}

/// `total count`, then for each entry `kind size(or -1) mtime path target?`.
pub(crate) fn pack_tree_page(page: &TreePage) -> Packed {
    let mut packed = Packed::new();
    packed.num(page.total);
    packed.num(page.entries.len() as u64);
    for entry in &page.entries {
        let TreeEntry { path, kind, stat, target } = entry;
        let path = std::str::from_utf8(path).unwrap_or_default();
        pack_entry(&mut packed, *kind, *stat, path, target.as_deref());
    }
    packed
}
