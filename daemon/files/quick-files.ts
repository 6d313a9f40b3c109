import type { FastPath } from '../http/exchange.ts'
import type { FileAnswer } from './file-answer.ts'
import { openPart } from './file-part.ts'
import type { PublicFiles } from './public-files.ts'

/** The paths of index and crate files and pages, which no route of the app has, except `latest`. */
const OF_TREE = /^\/(?:index|crates)\/(?!.*\/latest\/$)/

/**
 * Answers GET and HEAD for index files, crates and crate pages that need no reading first, and
 * leaves all else to the app. `pathOf` returns the path of a target; `count` receives the seconds
 * each answer took; `onFailure`, why a file could not be read to its end.
 */
export function quickFiles(
  files: PublicFiles,
  pathOf: (target: string) => string,
  count: (method: string, status: number, seconds: number) => void,
  onFailure: (error: unknown) => void,
): FastPath {
  return (exchange, next) => {
    const start = performance.now()
    const { method, target } = exchange
    const path = pathOf(target)
    let answer: FileAnswer | null = null
    try {
      if (OF_TREE.test(path)) answer = files.atOnce(path, exchange, start)
    } catch {
      // The app will fail in the same way, and report it.
    }
    if (!answer) return next()
    const { status, headers, body } = answer
    const counted = () => count(method, status, (performance.now() - start) / 1000)
    if (body === null || Buffer.isBuffer(body)) {
      exchange.send(status, headers, body)
      files.counted(answer)
      return counted()
    }
    // Not sooner: what is read ahead for an answer that has to wait would be kept in memory.
    exchange.afterEarlier(() =>
      openPart(body).then(
        async part => {
          if (!part) return next()
          files.counted(answer)
          await part.send(exchange.begin(status, headers)).catch(onFailure)
          counted()
        },
        () => next(),
      ),
    )
  }
}
