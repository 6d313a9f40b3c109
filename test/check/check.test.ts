// Mirrors generator/check/rows/all.ts
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createServer } from 'node:tls'
import { cargoVersion } from '../../generator/check/cargo.ts'
import { Client } from '../../generator/check/client.ts'
import { subjects } from '../../generator/check/rows/all.ts'
import { play } from '../../generator/check/run.ts'
import type { Subject } from '../../generator/check/subject.ts'
import { openTarget, type Target } from '../../generator/check/target.ts'
import { cargoPath } from '../support/cargo.ts'
import { makeCertificate } from '../support/certificate.ts'
import { Cleanup } from '../support/cleanup.ts'
import { scratch } from '../support/scratch.ts'
import { MadeUpRegistry, type Switch, TOKEN } from './server.ts'
import { switches } from './switches.ts'

const statements = Object.values(subjects).flat()
const ids = statements.map(({ id }) => id)
const version = (await cargoVersion(cargoPath, process.env)) ?? ''

/** Plays statements about a target; Cargo's with Cargo. */
async function results(
  cleanup: Cleanup,
  index: string,
  changes: Partial<Target>,
  chosen: readonly string[],
) {
  const client = new Client({})
  const subject: Subject = {
    target: { ...(await openTarget(index, client)), ...changes },
    client,
    crates: [],
    token: TOKEN,
    prefix: 'check-',
    cargo: chosen.some(id => id.startsWith('cargo-')) ? { path: cargoPath, version } : null,
    env: process.env,
    scratch: scratch(cleanup),
    pauseMs: 1,
    signal: new AbortController().signal,
    published: [],
  }
  try {
    return await play(
      subject,
      statements.filter(({ id }) => chosen.includes(id)),
      () => undefined,
    )
  } finally {
    await client.close()
  }
}

/** Plays statements against a registry that is wrong in one way. */
async function against(
  cleanup: Cleanup,
  registry: MadeUpRegistry,
  wrong: Switch,
  chosen: readonly string[],
) {
  await registry.reset(wrong)
  const name = wrong.isGit ? `${registry.url}/index.git` : (wrong.name ?? registry.index)
  return results(cleanup, registry.index, { name, kind: wrong.isGit ? 'git' : 'http' }, chosen)
}

test('a right registry passes every statement', async t => {
  const cleanup = new Cleanup(t)
  const registry = await MadeUpRegistry.start(cleanup)
  const passed = new Set<string>()
  for (const kind of [{}, { isPrivate: true }, { isGit: true }]) {
    const chosen = 'isGit' in kind ? ids.filter(id => id.startsWith('git-')) : ids
    const all = await against(cleanup, registry, kind, chosen)
    const failed = all.filter(({ status }) => status === 'fail')
    assert.deepEqual(
      failed.map(({ id, seen }) => `${id}: ${seen}`),
      [],
    )
    for (const { id, status } of all) if (status === 'pass') passed.add(id)
  }
  assert.deepEqual(
    ids.filter(id => !passed.has(id)),
    ['http-2'],
  )
})

test('every statement fails where the registry is wrong in just that way', async t => {
  const cleanup = new Cleanup(t)
  assert.deepEqual(
    Object.keys(switches)
      .filter(id => ids.includes(id))
      .sort(),
    ids.filter(id => id !== 'http-2').sort(),
  )
  const left = Object.entries(switches).filter(([id]) => ids.includes(id))
  const held: string[] = []
  const work = async () => {
    const registry = await MadeUpRegistry.start(cleanup)
    for (let next = left.pop(); next; next = left.pop()) {
      const [id, wrong] = next
      const [result] = await against(cleanup, registry, wrong, [id])
      if (result?.status !== 'fail') held.push(`${id}: ${result?.status} ${result?.seen}`)
    }
  }
  await Promise.all([work(), work(), work()])
  assert.deepEqual(held, [])
})

test('http-2: a server that offers HTTP/2 over TLS passes, one that does not fails', async t => {
  const cleanup = new Cleanup(t)
  const { cert, key } = await makeCertificate(scratch(cleanup))
  const pem = { cert: readFileSync(cert), key: readFileSync(key) }
  for (const [protocols, status] of [
    [['h2', 'http/1.1'], 'pass'],
    [['http/1.1'], 'fail'],
  ] as const) {
    const server = createServer({ ...pem, ALPNProtocols: [...protocols] }).listen(0, '127.0.0.1')
    cleanup.add(() => void server.close())
    await once(server, 'listening')
    const index = `sparse+https://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const [result] = await results(cleanup, index, {}, ['http-2'])
    assert.equal(result?.status, status, result?.seen ?? '')
  }
})
