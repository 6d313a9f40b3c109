import { parentPort } from 'node:worker_threads'
import { Refusal } from '../../core/error/error.ts'
import type { Send } from './source-task.ts'
import type { Reply, Request } from './thread.ts'

/** Tasks by name; each may send parts of its result before it returns the rest. */
export type TaskTable = Readonly<Record<string, (input: never, send: Send) => Promise<unknown>>>

/** Makes this thread run tasks, one at a time, each with one final reply. */
export function serveTasks(tasks: TaskTable): void {
  const port = parentPort
  if (port === null) throw new Error('tasks can only be served in a worker thread')
  let proceed: (() => void) | null = null
  const send: Send = part =>
    new Promise(resolve => {
      proceed = resolve
      port.postMessage({ part } satisfies Reply)
    })
  port.on('message', (request: Request | 'continue') => {
    if (request === 'continue') proceed?.()
    else void perform(tasks, request, send).then(reply => port.postMessage(reply))
  })
}

async function perform(tasks: TaskTable, { task, input }: Request, send: Send): Promise<Reply> {
  try {
    return { result: await tasks[task]?.(input as never, send) }
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.issues, retryAfter: error.retryAfter }
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
