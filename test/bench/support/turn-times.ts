/**
 * Loaded into a daemon with `--import`: notes how much processor time the main thread takes between
 * two turns of its event loop, which other programs on the machine do not change (Linux). Each
 * SIGUSR2 begins anew; the end writes the figures to the file `TURN_TIMES`.
 */
import { openSync, readSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { quantile } from '../../support/measure.ts'

const file = process.env.TURN_TIMES
if (isMainThread && file !== undefined) {
  const stat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
  const bytes = Buffer.alloc(100)
  const used = () => {
    const size = readSync(stat, bytes, 0, bytes.length, 0)
    return Number(bytes.toString('latin1', 0, size).split(' ')[0]) / 1e6
  }
  let [times, last]: [number[], number] = [[], used()]
  process.on('SIGUSR2', () => {
    times = []
  })
  setInterval(() => {
    const now = used()
    times.push(now - last)
    last = now
  }, 1).unref()
  process.on('exit', () => {
    writeFileSync(file, JSON.stringify({ p99: quantile(times, 0.99) }))
  })
}
