import { mock } from 'node:test'

/**
 * Does some work while reading an archive costs a client nothing. Its cost is at most the time of
 * the whole process, which in tests is that of Cargo's other end and of much else: on a busy
 * machine it would count as another publish.
 */
export async function withoutReadingTime<T>(work: () => Promise<T>): Promise<T> {
  const usage = mock.method(process, 'cpuUsage', () => ({ user: 0, system: 0 }))
  try {
    return await work()
  } finally {
    usage.mock.restore()
  }
}
