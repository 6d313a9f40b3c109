import { parentPort } from 'node:worker_threads'
import { Refusal } from '../../core/error/error.ts'
import type { Send } from './source-task.ts'
import { type Tasks, tasks } from './tasks.ts'
import type { Reply, Request } from './thread.ts'

/** The program of a worker thread: one task after the other, each answered by one last reply. */
const port = parentPort
if (port === null) throw new Error('this is the program of a worker thread')

let goOn: (() => void) | null = null

port.on('message', (request: Request | 'continue') => {
  if (request === 'continue') goOn?.()
  else void perform(request).then(reply => port.postMessage(reply))
})

async function perform({ task, input }: Request): Promise<Reply> {
  try {
    const work = tasks[task as keyof Tasks] as (input: unknown, send: Send) => unknown
    return { result: await work(input, send) }
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.issues, retryAfter: error.retryAfter }
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

/** Sends a part of a result, and waits until it has been taken. */
function send(part: unknown): Promise<void> {
  return new Promise(resolve => {
    goOn = resolve
    port?.postMessage({ part } satisfies Reply)
  })
}
