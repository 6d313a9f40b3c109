/** A promise that waits until somebody opens it, perhaps with a value. */
export function gate<T = void>() {
  let open: (value: T) => void = () => undefined
  const opened = new Promise<T>(resolve => {
    open = resolve
  })
  return { opened, open: (value: T) => open(value) }
}
