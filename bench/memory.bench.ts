/** Eight publishes of 10 MiB at once: how much memory the real program needs beyond its idle size. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishAll, publishBody } from './support/publishing.ts'
import { newRegistry, startDaemon } from './support/registry.ts'
import { printTable } from './support/table.ts'

const CLIENTS = 8
/** Just below the default limit of a `.crate`. */
const SIZE = 10 * 1024 ** 2 - 10_000

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
const home = join(folder, 'registry')
const token = await newRegistry(home)
const daemon = await startDaemon(home)
try {
  const target = { port: daemon.port, token }
  await publishAll(target, [publishBody('small', '1.0.0', 1000)], 1)
  await daemon.quiet()
  const idle = daemon.memory()
  const bodies = Array.from({ length: CLIENTS }, (_, at) =>
    publishBody(`large-${at}`, '1.0.0', SIZE),
  )
  daemon.resetPeak()
  await publishAll(target, bodies, CLIENTS)
  const peak = daemon.memory('peak')
  await daemon.quiet()
  const [later, after] = [daemon.memory('peak'), daemon.memory()]
  printTable([
    { what: 'idle', value: idle, unit: 'MiB' },
    {
      what: `${CLIENTS} publishes of 10 MiB at once: the most above idle`,
      value: peak - idle,
      unit: 'MiB',
      goal: { atMost: 150 },
    },
    {
      what: 'the same until all is quiet',
      value: later - idle,
      unit: 'MiB',
      goal: { atMost: 150 },
    },
    { what: 'above idle when all is quiet', value: after - idle, unit: 'MiB' },
  ])
} finally {
  await daemon.stop()
  rmSync(folder, { recursive: true, force: true })
}
