/**
 * Calls `act` for every item, at most `limit` at a time. Returns results in the order of the items; rejects with the
 * first error.
 */
export async function mapWithConcurrency<Item, Result>(
  limit: number,
  items: readonly Item[],
  act: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const runner = async () => {
    for (let at = next; at < items.length; at = next) {
      next = at + 1;
      results[at] = await act(items[at] as Item, at);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runner));
  return results;
}

/** Maps a long list, `size` items in each turn of the event loop, so that the other requests of the process go on in between. */
export async function mapInTurns<Item, Result>(
  size: number,
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % size === 0) await new Promise(setImmediate);
    results.push(map(item, index));
  }
  return results;
}
