//! What a ranked search returns, and its limits.

crate::wire! {
    /// The limits of ranked searches.
    pub constants RankLimits {
        /// The maximum size in bytes of a file that is ranked. Larger ones are generated or data.
        MAX_RANKED_BYTES = 1048576,
        /// The maximum number of directories that are searched together.
        MAX_DIRECTORIES = 256,
    }
}

crate::wire! {
    /// A line of a block.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CodeLine {
        /// From 1.
        pub line: u64,
        /// The line, at most 200 characters.
        pub text: String,
    }
}

crate::wire! {
    /// Some consecutive lines of a file that fit a query.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CodeBlock {
        /// The index of the searched directory, in the order in which they were given.
        pub root: u64,
        /// The path, relative to that directory.
        pub path: String,
        /// The first line, from 1.
        pub first: u64,
        /// The last line, inclusive.
        pub last: u64,
        /// Six hexadecimal digits that change with the lines of the block.
        pub hash: String,
        /// The line of the definition with which the block begins, and the lines with words of the
        /// query; the first line with text where there are none.
        pub lines: Vec<CodeLine>,
    }
}

crate::wire! {
    /// The blocks that fit a question best, and the counts of the search.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct CodeFound {
        /// The number of files that were ranked.
        pub files_searched: u64,
        /// The number of text files of more than 1 MiB, which were left out.
        pub skipped_large: u64,
        /// The path of the first of them, relative to its directory; empty if there is none.
        pub first_large: String,
        /// The index of the searched directory that contains it.
        pub large_root: u64,
        /// The number of entries that could not be read.
        pub unreadable: u64,
        /// False when the time was up before all files were ranked.
        pub complete: bool,
        /// The blocks, best first.
        pub blocks: Vec<CodeBlock>,
    }
}
