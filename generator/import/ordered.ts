/**
 * Does `work` for all items, `width` at once, and yields the results in the order of the items,
 * reading no further ahead. Unused results, after an early stop or a failure, go to `discard`.
 */
export async function* ordered<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  width: number,
  work: (item: Item) => Promise<Result>,
  discard: (result: Result) => Promise<void> = async () => undefined,
): AsyncGenerator<Result> {
  const waiting: Promise<Result>[] = []
  const source = iterate(items)
  let isEnded = false
  try {
    for (;;) {
      while (!isEnded && waiting.length < width) {
        const next = await source.next()
        if (next.done) isEnded = true
        else waiting.push(begin(work(next.value)))
      }
      const first = waiting.shift()
      if (!first) return
      yield await first
    }
  } finally {
    for (const one of await Promise.allSettled(waiting))
      if (one.status === 'fulfilled') await discard(one.value)
    await source.return(undefined)
  }
}

async function* iterate<Item>(items: AsyncIterable<Item> | Iterable<Item>): AsyncGenerator<Item> {
  yield* items
}

/** A failure is thrown in its order; until then it must not count as unhandled. */
function begin<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined)
  return work
}
