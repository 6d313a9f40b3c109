import { pipeline } from 'node:stream/promises'
import type { Quick } from '../http/exchange.ts'
import type { FileAnswer } from './file-answer.ts'
import { openPart, type PublicFiles } from './public-files.ts'

/** Only files of the public tree have such paths; no route of the app does. */
const OF_TREE = /^\/(?:index|crates)\//

/**
 * Answers GET and HEAD for files of the index, crates and their pages that are in memory; leaves
 * all else. `pathOf` finds the path in a target; `count` is told each answer and how many seconds it
 * took; `onFailure`, why a file could not be read to its end.
 */
export function quickFiles(
  files: PublicFiles,
  pathOf: (target: string) => string,
  count: (method: string, status: number, seconds: number) => void,
  onFailure: (error: unknown) => void,
): Quick {
  return (exchange, leave) => {
    const start = performance.now()
    const { method, target } = exchange
    if (method !== 'GET' && method !== 'HEAD') return leave()
    const path = pathOf(target)
    let answer: FileAnswer | null = null
    try {
      if (OF_TREE.test(path)) answer = files.atOnce(path, exchange)
    } catch {
      // The app fails in the same way, and reports it.
    }
    if (!answer) return leave()
    const { status, headers, body } = answer
    const counted = () => count(method, status, (performance.now() - start) / 1000)
    if (body === null || Buffer.isBuffer(body)) {
      exchange.send(status, headers, body)
      return counted()
    }
    openPart(body).then(
      async bytes => {
        if (!bytes) return leave()
        await pipeline(bytes, exchange.begin(status, headers)).catch(error => {
          // That a client went away is no failure.
          if (error.syscall === 'read') onFailure(error)
        })
        counted()
      },
      () => leave(),
    )
  }
}
