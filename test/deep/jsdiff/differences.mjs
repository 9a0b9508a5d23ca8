// The tests of jsdiff that fail for `filewright/diff` on purpose, each with the reason.
// docs/diff-compatibility.md describes the differences for users.
//
// `refuses`: Filewright refuses what jsdiff guesses. Such tests do not count when the share of
// passed tests is computed.

const applyPatchTestNames = (titles) => titles.map((title) => `patch/apply > #applyPatch > ${title}`);
const tokenizeTestNames = (titles) => titles.map((title) => `WordDiff > #tokenize > ${title}`);

export const DIFFERENCES = [
  {
    refuses: true,
    why: "With fuzz, context that does not match is left out from the outside in, as GNU patch does, or the matcher of edit_file finds the place; a line missing, added or changed in the middle of a hunk is not counted away.",
    tests: applyPatchTestNames([
      "should fail if either line immediately next to an insertion doesn't match, regardless of fuzz factor",
      "should, given a fuzz factor, allow mismatches caused by presence of extra lines",
      "should, given a fuzz factor, allow mismatches due to missing lines",
      "should, given a fuzz factor, allow mismatches caused by lines being changed",
      "should, given a fuzz factor, allow mismatches caused by a mixture of ins/sub/del",
    ]),
  },
  {
    refuses: true,
    why: "Whether the last line has a line end is part of that line, also with fuzz; a patch that changes a last line leaves the end that the patch says.",
    tests: applyPatchTestNames([
      "ignores being asked to remove a non-existent trailing newline if fuzzFactor >0",
      "ignores being asked to add an EOF newline when one already exists if fuzzFactor>0",
      "when the last line is changed but both old & new version have no trailing newline... > ignores an unexpected trailing newline if fuzzFactor > 0",
    ]),
  },
  {
    why: "Line ends are told apart line by line: a patch with CRLF alone applies to a file that has both, and each line keeps its own.",
    tests: applyPatchTestNames([
      "should leave line endings in the patch alone if the target file has mixed file endings, even if this means the patch does not apply",
    ]),
  },
  {
    why: "The objects that compare (wordDiff, sentenceDiff, the class Diff) are not there: how a text is parted is told by the functions alone.",
    tests: [
      ...tokenizeTestNames([
        "should give each word & punctuation mark its own token, including leading and trailing whitespace",
        "should treat numbers as part of a word if not separated by whitespace or punctuation",
        "should handle the 0080-00FF range the way we expect",
      ]),
      "diff/sentence > tokenize > should split on whitespace after a punctuation mark, and keep the whitespace as a token",
    ],
  },
];
