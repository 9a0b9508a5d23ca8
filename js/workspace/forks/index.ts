/**
 * The forks of a workspace: copies of its files that are changed, compared and merged apart from it. They are loaded
 * with the first fork.
 */
export { makeForks } from "./forks.ts";
export { makeForkWorkspace } from "./workspace.ts";
