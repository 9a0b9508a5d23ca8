// Tests of jsdiff that do not hold for `filewright/diff`, and why. What it means
// for users is told in docs/diff-compatibility.md.

const apply = (titles) => titles.map((title) => `patch/apply > #applyPatch > ${title}`);
const create = (titles) => titles.map((title) => `patch/create > #createPatch > ${title}`);

export const DIFFERENCES = [
  {
    why: "With fuzz, context that does not match is left out from the outside in, as GNU patch does, or the matcher of edit_file finds the place; a line missing or added in the middle of a hunk is not counted away.",
    tests: apply([
      "should fail if either line immediately next to an insertion doesn't match, regardless of fuzz factor",
      "should, given a fuzz factor, allow mismatches caused by presence of extra lines",
      "should, given a fuzz factor, allow mismatches due to missing lines",
      "should, given a fuzz factor, allow mismatches caused by lines being changed",
      "should, given a fuzz factor, allow mismatches caused by a mixture of ins/sub/del",
    ]),
  },
  {
    why: "There is no compareLine and no autoConvertLineEndings: line ends are told apart line by line, and a new line ends as those beside it do.",
    tests: apply([
      "should allow custom line comparison",
      "should leave line endings in the patch alone if the target file has mixed file endings, even if this means the patch does not apply",
      "should leave patch file endings alone if autoConvertLineEndings=false",
    ]),
  },
  {
    why: "Whether the last line has a line end is part of that line, with or without fuzz; a patch that changes a last line leaves the end that the patch says.",
    tests: apply([
      "ignores being asked to remove a non-existent trailing newline if fuzzFactor >0",
      "ignores being asked to add an EOF newline when one already exists if fuzzFactor>0",
      "when the last line is changed but both old & new version have no trailing newline... > fails if fuzzFactor=0 and the source file has an unexpected trailing newline",
      "when the last line is changed but both old & new version have no trailing newline... > ignores an unexpected trailing newline if fuzzFactor > 0",
    ]),
  },
  {
    why: "Of several diffs another is chosen: git's histogram with its sliding rules.",
    tests: create([
      "should generate a patch with default context size",
      "should generate a patch with context size 0",
      "should generate a patch with context size 2",
    ]),
  },
  {
    why: "There is no maxEditLength, and an option that is not known is passed over.",
    tests: create([
      "should respect maxEditLength",
      "newlineIsToken > isn't allowed any more, since the patches produced were nonsense",
    ]),
  },
  {
    why: "There is no callback and no maxEditLength: the work is bounded by itself.",
    tests: [
      "patch/create > #createPatch > takes an optional callback option",
      "patch/create > #createPatch > lets you provide a callback by passing a function as the `options` parameter",
      "patch/create > #createPatch > still supports early termination when in async mode",
      "patch/create > #structuredPatch > takes an optional callback option",
      "patch/create > #structuredPatch > lets you provide a callback by passing a function as the `options` parameter",
      "patch/create > #structuredPatch > given options.maxEditLength > terminates early",
    ],
  },
  {
    why: "The headers of git and Mercurial other than --- and +++ are passed over: no isGit, isRename, isCopy, isCreate, isDelete, no modes, and nothing of them is printed. For those there is parsePatch of filewright/engine.",
    tests: [
      "patch/create > #formatPatch > with headerOptions parameter > should throw an error when given an array of patches and OMIT_HEADERS",
      "patch/create > #formatPatch > with headerOptions parameter > should silently skip headers when filenames are undefined",
      "patch/create > #formatPatch > with headerOptions parameter > should emit diff --git header for patches with isGit flag",
      "patch/create > #formatPatch > with headerOptions parameter > should throw if oldFileName is missing or empty for a Git patch",
      "patch/create > #formatPatch > with headerOptions parameter > should throw if newFileName is missing or empty for a Git patch",
      "patch/create > #formatPatch > with headerOptions parameter > should ignore headerOptions for multi-file patches with isGit flag",
      "patch/create > #formatPatch > with headerOptions parameter > should emit rename headers for patches with isGit and isRename",
      "patch/create > #formatPatch > with headerOptions parameter > should emit copy headers for patches with isGit and isCopy",
      "patch/create > #formatPatch > with headerOptions parameter > should emit new file mode header for patches with isGit and isCreate",
      "patch/create > #formatPatch > with headerOptions parameter > should emit deleted file mode header for patches with isGit and isDelete",
      "patch/create > #formatPatch > with headerOptions parameter > should still emit rename headers with file headers if hunks are present",
      "patch/create > #formatPatch > with headerOptions parameter > should round-trip a Git rename patch through formatPatch and parsePatch",
      "patch/parse > #parse > should parse the header format used by Mercurial",
      "patch/parse > #parse > should parse a single-file `diff --git` patch",
      "patch/parse > #parse > should parse a multi-file `diff --git` patch",
      "patch/parse > #parse > should parse a `diff --git` rename with no content change",
      "patch/parse > #parse > should parse a `diff --git` rename with content change",
      "patch/parse > #parse > should parse a `diff --git` mode-only change",
      "patch/parse > #parse > should parse a `diff --git` binary file change",
      "patch/parse > #parse > should not lose files when a hunkless `diff --git` file is followed by one with hunks",
      "patch/parse > #parse > should parse a `diff --git` copy",
      "patch/parse > #parse > should parse a `diff --git` new file",
      "patch/parse > #parse > should parse a `diff --git` deleted file",
      "patch/parse > #parse > should parse a `diff --git` empty file creation (no --- / +++ or hunks)",
      "patch/parse > #parse > should parse a `diff --git` empty file deletion (no --- / +++ or hunks)",
      "patch/parse > #parse > should unquote C-style quoted filenames in rename from/to",
      "patch/parse > #parse > should handle all Git C-style escape sequences in quoted filenames",
      "patch/parse > #parse > should handle multi-byte UTF-8 octal escapes in quoted filenames",
      "patch/parse > #parse > should parse `diff --git` with unquoted filenames containing spaces (same old and new)",
      "patch/parse > #parse > should parse `diff --git` rename with unquoted filenames containing spaces",
      'patch/parse > #parse > should handle `diff --git` with a filename containing " b/"',
      'patch/parse > #parse > should handle `diff --git` rename where filenames contain " b/"',
      'patch/parse > #parse > should handle `diff --git` rename where filenames contain " b/", without rename from/to',
      "patch/parse > #parse > unparseable `diff --git headers > should handle an unparseable `diff --git` header with unterminated quote",
      "patch/parse > #parse > unparseable `diff --git headers > should handle an unparseable `diff --git` header with no a/b prefixes",
      "patch/parse > #parse > unparseable `diff --git headers > should handle an incomplete octal escape in a quoted `diff --git` filename",
      "patch/parse > #parse > unparseable `diff --git headers > should handle an unparseable `diff --git` header with no --- or +++ fallback",
      "patch/reverse > #reversePatch > should support taking an array of structured patches, as output by parsePatch",
      "patch/reverse > #reversePatch > should reverse a rename patch into a rename in the opposite direction",
      "patch/reverse > #reversePatch > should reverse a copy patch into a deletion",
      "patch/reverse > #reversePatch > should reverse a hunk-less copy into a deletion",
      "patch/reverse > #reversePatch > should reverse a hunk-less rename",
      "patch/reverse > #reversePatch > should reverse a creation into a deletion, swapping isCreate/isDelete and oldMode/newMode",
      "patch/reverse > #reversePatch > should reverse a deletion into a creation, swapping isCreate/isDelete and oldMode/newMode",
      "patch/reverse > #reversePatch > should swap oldMode and newMode when reversing a mode change",
    ],
  },
  {
    why: "What is around hunks is passed over, and the words of errors are our own.",
    tests: [
      "patch/parse > #parse > should throw if --- and +++ file headers are not paired",
      "patch/parse > #parse > should perform sanity checks on line numbers",
      "patch/parse > #parse > should emit an error if a hunk has wrong line counts causing extra hunk-body lines to spill out",
      "patch/parse > #parse > should emit a useful error message if the final hunk of the patch file ends prematurely",
    ],
  },
];
