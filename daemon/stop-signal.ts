/** A second SIGINT within this time is the same Ctrl-C, from the terminal and through `npx`. */
const SAME_INTERRUPT_MS = 250

/**
 * Resolves at the first SIGTERM, SIGINT or SIGHUP, or when the parent closes its IPC channel.
 * Repetitions change nothing, except that a second Ctrl-C ends the process at once.
 */
export function stopSignal(): Promise<void> {
  return new Promise(resolve => {
    let interrupted: number | null = null
    process.on('SIGINT', () => {
      interrupted ??= performance.now()
      if (performance.now() - interrupted > SAME_INTERRUPT_MS) process.exit(130)
      resolve()
    })
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
    process.once('disconnect', () => resolve())
    process.channel?.unref()
  })
}
