import { issue, Refusal } from '../../core/error/error.ts'
import { serveTasks } from '../../generator/sandbox/serve-tasks.ts'

/** Tasks under the names of the real ones: what their `path` says. */
serveTasks({
  async inspect({ path }: { path: string }) {
    if (path === 'spin') for (;;);
    if (path === 'backtrack') return /^(a+)+$/.test(`${'a'.repeat(100)}b`)
    if (path === 'grow') for (const all: unknown[] = []; ; ) all.push(new Array(1000).fill(path))
    if (path === 'refuse')
      throw new Refusal([issue('crate_unknown', { name: 'demo' }), issue('route_unknown')], {
        retryAfter: 7,
      })
    if (path === 'fail') throw new TypeError('it is not iterable')
    if (path === 'end') process.exit(0)
    return { path, env: process.env.HOME }
  },
  async source(_: unknown, send) {
    for (let part = 0; part < 3; part++) await send([part])
  },
})
