/** Numbers of workspaces. */

let openedWorkspaceCount = 0;

/** Returns the number of a new workspace, unique in this process. */
export function nextWorkspaceNumber(): number {
  openedWorkspaceCount += 1;
  return openedWorkspaceCount;
}
