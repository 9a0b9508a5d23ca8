/** The place of remote sandboxes on a server, in a module without imports, because every server loads it. */

/** The path on a server. */
export const SANDBOX_PATH = "/sandbox";

/** The version of the messages. A client refuses a server of another one. */
export const SANDBOX_PROTOCOL = 1;
