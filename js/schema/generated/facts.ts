// The facts about each tool, written by `npm run tool-types`, not to be edited.

/** The kind and the traits, by the name of the tool. */
export const FACTS_BY_TOOL = {
  read_file: {"kind":"read","traits":["endsAtOnce","readsContents","standsForReading"]},
  read_many_files: {"kind":"read","traits":["readsContents","takesLists","searches"]},
  write_file: {"kind":"change","traits":["readsContents","writes","standsForWriting"]},
  edit_file: {"kind":"change","traits":["readsContents","edits","showsDiff"]},
  apply_patch: {"kind":"change","traits":["readsContents","edits","writesSeveral","alsoDeletes","alsoMoves","alsoCopies","showsDiff"]},
  diff: {"kind":"read","traits":["readsContents","showsDiff"]},
  list_directory: {"kind":"read","traits":["searches","needsDirectory"]},
  glob: {"kind":"read","traits":["searches","needsDirectory"]},
  find_files: {"kind":"read","traits":["isExtra","searches","needsDirectory"]},
  grep: {"kind":"read","traits":["searches"]},
  outline: {"kind":"read","traits":["knowsRepository","searches"]},
  stat: {"kind":"read","traits":["endsAtOnce","readsContents","standsForLooking"]},
  copy: {"kind":"change","traits":["readsContents","copies","alsoReplaces"]},
  move: {"kind":"change","traits":["actsOnLinks","moves","alsoReplaces"]},
  delete: {"kind":"change","traits":["actsOnLinks","removes"]},
  mkdir: {"kind":"change","traits":["acceptsExisting"]},
  batch: {"kind":"batch","traits":["namesNoPath"]},
  access_info: {"kind":"read","traits":["endsAtOnce","namesNoPath"]},
  run_command: {"kind":"change","traits":["keepsTime","runsCommands"]},
  undo: {"kind":"change","traits":["recordsItself","needsHistory","namesNoPath","takesBackCall","alsoDeletes","alsoMoves"]},
  history: {"kind":"read","traits":["needsHistory"]},
  merge: {"kind":"change","traits":["writesSeveral","alsoDeletes"]},
  rewind: {"kind":"change","traits":["writesSeveral","takesBackCalls","alsoDeletes","alsoMoves"]},
  undo_hunks: {"kind":"change","traits":["takesBackPart"]},
} as const;
