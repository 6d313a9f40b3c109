/**
 * What one user can do to another with archives that unpack to 490 MiB and are refused: 60 connections send them again and
 * again while somebody else publishes. No limit of rates is in force, so that only the turns of the users matter.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { buildCrate } from '../test/support/crate-builder.ts'
import { quantile } from '../test/support/measure.ts'
import { encodePublish, plainMetadata } from '../test/support/release.ts'
import { publishAll, publishBody } from './support/publishing.ts'
import { addToken, newRegistry, startDaemon } from './support/registry.ts'
import { printTable } from './support/table.ts'

const CONNECTIONS = 60
const PUBLISHES = 40

/** Between two publishes, so that the attack goes through many of its turns. */
const PAUSE_MS = 500

/** Its manifest has another name than what is sent before it. */
const bomb = encodePublish(
  plainMetadata('bomb', '1.0.0'),
  buildCrate({
    name: 'other',
    version: '1.0.0',
    files: { zeros: new Uint8Array(490 * 1024 ** 2) },
  }),
)

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
const token = await newRegistry(folder)
const hostile = await addToken(folder, 'mallory')
const daemon = await startDaemon(folder)
const { port } = daemon
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
let isOver = false
let refused = 0
try {
  await publishAll({ port, token }, [publishBody('before', '1.0.0', 10_000)], 1)
  const attack = Array.from({ length: CONNECTIONS }, attacker)
  const times: number[] = []
  for (let at = 0; at < PUBLISHES; at++) {
    const body = publishBody(`beside-${at}`, '1.0.0', 10_000)
    times.push(...(await publishAll({ port, token }, [body], 1)).map(({ took }) => took))
    await setTimeout(PAUSE_MS)
  }
  isOver = true
  agent.destroy()
  await Promise.all(attack)
  printTable([
    {
      what: 'a publish, the longest',
      value: Math.max(...times),
      unit: 'ms',
      goal: { atMost: 3000 },
    },
    { what: 'a publish, median', value: quantile(times, 0.5), unit: 'ms' },
  ])
  console.log(`  ${refused} archives were refused beside ${PUBLISHES} publishes`)
} finally {
  await daemon.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Sends the same archive until the measurement is over. */
async function attacker(): Promise<void> {
  while (!isOver) {
    await send()
    refused++
  }
}

/** Resolves when the archive was answered, or when the connection has ended. */
function send(): Promise<void> {
  const headers = { authorization: hostile, 'content-length': bomb.byteLength }
  return new Promise(resolve => {
    const sent = request({ port, agent, method: 'PUT', path: '/api/v1/crates/new', headers })
    sent.on('response', answer => answer.resume().on('close', resolve))
    sent.on('error', () => resolve())
    sent.end(bomb)
  })
}
