/**
 * Runs `work` for all items, `width` at once, and yields the results in the order of the items;
 * reads no further ahead. After an early stop or a failure, passes unused results to `discard`.
 */
export async function* ordered<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  width: number,
  work: (item: Item) => Promise<Result>,
  discard: (result: Result) => Promise<void> = async () => undefined,
): AsyncGenerator<Result> {
  const waiting: Promise<Result>[] = []
  try {
    for await (const item of items) {
      const result = work(item)
      // A failure is thrown when its turn comes; until then it must not count as unhandled.
      result.catch(() => undefined)
      waiting.push(result)
      if (waiting.length === width) yield (await waiting.shift()) as Result
    }
    while (waiting.length > 0) yield (await waiting.shift()) as Result
  } finally {
    for (const result of await Promise.allSettled(waiting))
      if (result.status === 'fulfilled') await discard(result.value)
  }
}
