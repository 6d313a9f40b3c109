/**
 * A second SIGINT within this time is the same Ctrl-C: a terminal sends it to the whole process
 * group, and programs such as `npx` pass on what they get.
 */
const SAME_INTERRUPT_MS = 250

/**
 * Resolves at the first request to stop: SIGTERM, SIGINT, SIGHUP, or the end of the process that
 * started this one over an IPC channel. More of the same change nothing, except that a second
 * Ctrl-C ends the process at once.
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
