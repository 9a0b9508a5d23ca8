/** A content without bytes, shared by every caller that needs one. */
export const EMPTY_BYTES: Uint8Array<ArrayBuffer> = new Uint8Array(0);
