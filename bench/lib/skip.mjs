/** The error that skips a row or a group, because this machine lacks what it needs. */
export class Skip extends Error {}
