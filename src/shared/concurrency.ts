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
