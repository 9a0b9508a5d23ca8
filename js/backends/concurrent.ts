/** The number of entries of a storage that a call asks about at the same time. */
const CONCURRENT_REQUESTS = 32;

/** Yields the items in groups that are small enough to be asked about at the same time. */
export function* concurrentGroups<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += CONCURRENT_REQUESTS)
    yield items.slice(at, at + CONCURRENT_REQUESTS);
}
