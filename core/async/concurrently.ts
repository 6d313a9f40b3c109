// core/async: How many things run at once, and in which order. Every house calls it; it knows none
// of their work.

/** The most items that are worked on at a time: a disk combines flushes, a storage answers many. */
const AT_ONCE = 32

/** Works on `most` items at once; after a failure begins no more, waits, and throws the first. */
export async function forEachConcurrently<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  most = AT_ONCE,
): Promise<void> {
  const left = items[Symbol.iterator]()
  let isFailing = false
  const run = async () => {
    for (let next = left.next(); !next.done && !isFailing; next = left.next())
      await work(next.value)
  }
  const runs = Array.from({ length: most }, () =>
    run().catch(error => {
      isFailing = true
      throw error
    }),
  )
  for (const end of await Promise.allSettled(runs)) if (end.status === 'rejected') throw end.reason
}
