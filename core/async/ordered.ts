/** Yields the results of `work` in the order of items, `width` at once; discards unused ones. */
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
