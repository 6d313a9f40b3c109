import { threadId } from 'node:worker_threads'
import { issue, Refusal } from '../../core/error/error.ts'
import { serveTasks } from '../../generator/sandbox/serve-tasks.ts'

/** Tasks under the names of the real ones; their `content` selects the task. */
serveTasks({
  async inspect({ content }: { content: string }) {
    if (content === 'spin') for (;;);
    if (content === 'backtrack') return /^(a+)+$/.test(`${'a'.repeat(100)}b`)
    if (content === 'grow')
      // Not by `new Array(1000).fill`: V8 of Node 24 never interrupts a loop of that alone.
      for (const all: unknown[] = []; ; ) all.push({ content, more: [content] })
    if (content === 'refuse')
      throw new Refusal([issue('crate_unknown', { name: 'demo' }), issue('route_unknown')], {
        retryAfter: 7,
      })
    if (content === 'fail') throw new TypeError('it is not iterable')
    if (content === 'end') process.exit(0)
    if (content === 'thread') return threadId
    return { content, env: process.env.HOME }
  },
  async readme(hold: Int32Array) {
    return Atomics.wait(hold, 0, 0)
  },
})
