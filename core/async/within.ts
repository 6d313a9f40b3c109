/** Returns the result of some work, or `late` after `ms` milliseconds. */
export function within<T>(work: Promise<T>, ms: number, late: T): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, late)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
