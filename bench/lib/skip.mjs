/** What makes a row or a group impossible here, as opposed to wrong. */
export class Skip extends Error {}
