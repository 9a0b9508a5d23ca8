/** Sets the newest entry of a map, and drops the oldest one beyond a number. */
export function keepLast<Key, Value>(kept: Map<Key, Value>, key: Key, value: Value, most: number): void {
  kept.delete(key);
  kept.set(key, value);
  if (kept.size > most) kept.delete(kept.keys().next().value as Key);
}
