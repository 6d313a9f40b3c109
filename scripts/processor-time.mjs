// Loaded before each test file: notes the processor time of its process and of the children that it
// waited for. Elsewhere than on Linux no children are seen.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/** Milliseconds between two ticks of Linux's clock for processes. */
const TICK = 10
const SELF = '/proc/self/stat'

const notes = process.env.TEST_PROCESSOR_TIMES
if (notes && isMainThread)
  process.on('exit', () => {
    const line = JSON.stringify({ file: process.argv[1], milliseconds: spent() })
    appendFileSync(notes, `${line}\n`)
  })

function spent() {
  const { user, system } = process.cpuUsage()
  if (!existsSync(SELF)) return (user + system) / 1000
  // The 14th to 17th fields (proc(5)); the 2nd, in parentheses, may hold anything.
  const fields = readFileSync(SELF, 'utf8').split(') ').at(-1).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICK, 0)
}
