/**
 * SHA-256 and HMAC of a tab, in JavaScript (FIPS 180-4, RFC 2104). Browsers have no WebCrypto for a page that another
 * machine of the network serves over http, and in a tab in the background they answer each of its calls a second later.
 */

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;
const ROUNDS = 64;

/** The first 32 bits of the fractional part of a number. */
const fractionOf = (value: number): number => Math.floor((value - Math.floor(value)) * 2 ** 32) >>> 0;

/** The first 64 primes, of which the constants are the fractional parts of roots. */
const PRIMES: readonly number[] = Array.from({ length: 312 }, (_, at) => at)
  .filter(
    (number) =>
      number > 1 && !Array.from({ length: number }, (_, by) => by).some((by) => by > 1 && number % by === 0),
  )
  .slice(0, ROUNDS);
const FACTORS = Uint32Array.from(PRIMES, (prime) => fractionOf(Math.cbrt(prime)));
const FIRST_STATE = Uint32Array.from(PRIMES.slice(0, 8), (prime) => fractionOf(Math.sqrt(prime)));

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** Returns the words of a block and those that follow from them. */
function scheduleOf(view: DataView, from: number, words: Uint32Array): void {
  for (let at = 0; at < ROUNDS; at++) {
    if (at < 16) words[at] = view.getUint32(from + at * 4);
    else {
      const [a = 0, b = 0, c = 0, d = 0] = [words[at - 15], words[at - 2], words[at - 16], words[at - 7]];
      const first = turned(a, 7) ^ turned(a, 18) ^ (a >>> 3);
      const second = turned(b, 17) ^ turned(b, 19) ^ (b >>> 10);
      words[at] = c + first + d + second;
    }
  }
}

/** Mixes a block into the state. */
function mix(state: Uint32Array, words: Uint32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let at = 0; at < ROUNDS; at++) {
    const sums = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const first = (h + sums + ((e & f) ^ (~e & g)) + (FACTORS[at] ?? 0) + (words[at] ?? 0)) | 0;
    const others = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const second = (others + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at] = (state[at] ?? 0) + word;
}

/** Returns the SHA-256 of bytes. */
export function sha256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(Math.ceil((bytes.length + 1 + LENGTH_BYTES) / BLOCK_BYTES) * BLOCK_BYTES);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - LENGTH_BYTES, BigInt(bytes.length) * 8n);
  const state = FIRST_STATE.slice();
  const words = new Uint32Array(ROUNDS);
  for (let from = 0; from < padded.length; from += BLOCK_BYTES) {
    scheduleOf(view, from, words);
    mix(state, words);
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (const [at, word] of state.entries()) digest.setUint32(at * 4, word);
  return new Uint8Array(digest.buffer);
}

/** Returns the HMAC of bytes by a key of at most 64 bytes. */
export function hmacSha256(key: Uint8Array, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const within = new Uint8Array(BLOCK_BYTES + bytes.length).fill(0x36, 0, BLOCK_BYTES);
  const around = new Uint8Array(BLOCK_BYTES + 32).fill(0x5c, 0, BLOCK_BYTES);
  for (const [at, byte] of key.entries()) {
    within[at] = 0x36 ^ byte;
    around[at] = 0x5c ^ byte;
  }
  within.set(bytes, BLOCK_BYTES);
  around.set(sha256(within), BLOCK_BYTES);
  return sha256(around);
}
