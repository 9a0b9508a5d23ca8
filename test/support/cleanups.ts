/** What the running test has to give back when it ends, such as workspaces, servers and directories. */
const cleanups: (() => unknown)[] = [];

/** Runs `cleanup` after the running test, those that were added last first. */
export function afterThisTest(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** Runs what was added and empties the list. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}
