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
];
