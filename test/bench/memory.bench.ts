/** Eight publishes of 10 MiB at once: how much memory the real program needs beyond its idle size. */
import { join } from 'node:path'
import { publishAll, publishBody } from './support/publishing.ts'
import { newRegistry } from './support/registry.ts'
import { bench } from './support/servers.ts'
import { measured } from './support/table.ts'

const CLIENTS = 8
/** Just below the default limit of a `.crate`. */
const SIZE = 10 * 1024 ** 2 - 10_000

await bench(async servers => {
  const home = join(servers.folder, 'registry')
  const token = await newRegistry(home)
  const daemon = await servers.daemon(home)
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
  const what = `${CLIENTS} publishes of 10 MiB at once: the most above idle`
  return [
    measured('idle', idle, 'MiB'),
    measured(what, peak - idle, 'MiB', { atMost: 150 }),
    measured('the same until all is quiet', later - idle, 'MiB', { atMost: 150 }),
    measured('above idle when all is quiet', after - idle, 'MiB'),
  ]
})
