import { parentPort } from 'node:worker_threads'
import { Refusal } from '../../core/error/error.ts'
import type { Reply, Request } from './thread.ts'

/** Tasks by name. */
export type TaskTable = Readonly<Record<string, (input: never) => Promise<unknown>>>

/** Makes this thread run tasks, one at a time, each with one reply. */
export function serveTasks(tasks: TaskTable): void {
  const port = parentPort
  if (port === null) throw new Error('tasks can only be served in a worker thread')
  port.on('message', (request: Request) => {
    void perform(tasks, request).then(reply => port.postMessage(reply))
  })
}

async function perform(tasks: TaskTable, { task, input }: Request): Promise<Reply> {
  try {
    return { result: await tasks[task]?.(input as never) }
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.issues, retryAfter: error.retryAfter }
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
