/**
 * The work of the methods of a workspace about earlier changes. It is loaded after a workspace opens, or by the first of
 * them.
 */
export { blameFile } from "../pipeline/past/blame.ts";
export { changesOfCall } from "../pipeline/past/changes.ts";
export { listHistory, undoCall } from "../pipeline/past/history.ts";
export { undoParts } from "../pipeline/past/undo-parts.ts";
export { keepCalls, listUnreviewed } from "../pipeline/past/unreviewed.ts";
export { listMarks, rewindTo, setMark } from "./rewind/rewind.ts";
