/** The home directory of the user. */
import { homedir } from "node:os";

/** Returns the home directory; undefined where neither the environment nor the system's list of users names one. */
export function homeDirectory(): string | undefined {
  try {
    const home = homedir();
    return home === "" ? undefined : home;
  } catch {
    // The system has no entry for this user, as in a container that runs under any number.
    return undefined;
  }
}
