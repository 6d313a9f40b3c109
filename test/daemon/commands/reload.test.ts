import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { settingTable } from '../../../core/settings/schema.ts'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { type Reload, reload } from '../../../daemon/commands/reload.ts'
import { serveLock } from '../../../generator/registry/registry.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { root } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { publishTo } from '../../support/release.ts'
import { SERVE, serveBy } from '../../support/serving-program.ts'
import { until } from '../../support/until.ts'
import { folderOf } from '../../support/workplace.ts'

/** Does not become small in an archive. */
const TEXT = `// ${randomBytes(2000).toString('hex')}`

/** A daemon with these settings, started by `command` with what follows it. */
async function start(t: TestContext, settings: string, command = SERVE) {
  const dir = join(folderOf(t), 'registry')
  assert.equal((await plimsollHere(['init', '--dir', dir])).code, 0)
  const set = (text: string) => writeFileSync(join(dir, 'plimsoll.toml'), text)
  set(settings)
  const { child, url, token, said, ended, kill } = await serveBy(new Cleanup(t), command, dir)
  const all = () => said.out + said.err
  const says = (words: RegExp) =>
    until(
      () => {
        assert.equal(child.exitCode, null, all())
        return words.test(all())
      },
      () => `it does not say ${words}\n${all()}`,
    )
  const publish = async (version: string) => {
    const parts = { name: 'demo', version, files: { 'src/lib.rs': TEXT } }
    return (await (await publishTo(url, token, parts)).text()).slice(0, 200)
  }
  const hangUp = async (words: RegExp) => {
    kill('SIGHUP')
    await says(words)
  }
  return { dir, kill, ended, url, set, says, hangUp, publish }
}

test('SIGHUP without a terminal reloads what can be, names the rest, and never ends the daemon', async t => {
  const { kill, url, set, says, hangUp, publish } = await start(t, '[limits]\ncrate_bytes = 1024\n')
  assert.match(await publish('1.0.0'), /bigger than the 1\.0 KiB/)
  set('[limits]\ncrate_bytes = "1 MiB"\npublish_per_minute = 1\n[registry]\ntitle = "Ours"\n')
  await hangUp(/"reloaded: limits\.crate_bytes, limits\.publish_per_minute"/)
  await says(/"not reloaded: registry\.title; restart the daemon for that"/)
  assert.match(await publish('1.0.0'), /"warnings"/)
  assert.match(await publish('1.1.0'), /too many publishes/)
  set('[limits]\ncrate_bytes = 1\n[log]\nlevel = "debug"\n')
  await hangUp(/the settings cannot be reloaded; keeping the old ones/)
  await says(/`limits\.crate_bytes` cannot be 1;/)
  set('[log]\nlevel = "debug"\n')
  await hangUp(/"reloaded: limits.crate_bytes, limits.publish_per_minute, log.level"/)
  assert.equal((await fetch(`${url}/index/config.json`)).status, 200)
  await says(/"level":20,.*"path":"\/index\/config\.json"/)
  await hangUp(/"reloaded: no setting that can be has changed"/)
  kill('SIGTERM')
  await says(/"signal":"SIGTERM","msg":"stopping: /)
})

test('`npm start` without a terminal passes it on', async t => {
  const command = [process.execPath, join(root, 'scripts', 'start.mjs')]
  const { url, hangUp } = await start(t, '', command)
  await hangUp(/"reloaded: no setting that can be has changed"/)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
})

test('the end of its terminal stops the daemon', async t => {
  const line = SERVE.map(word => `'${word}'`).join(' ')
  const command = ['script', '--quiet', '--return', '--flush', '--command', line, '/dev/null']
  const { dir, kill, ended, url } = await start(t, '', command)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  kill('SIGKILL')
  await ended
  await until(() => !serveLock(dir).isHeld(), 'it goes on')
})

test('of all settings those are taken over that the document says', () => {
  const document = readFileSync(join(root, 'docs', 'run', 'daemon.md'), 'utf8')
  const [, list = ''] = /It takes\sover\n\n(.*?)\n\n/s.exec(document) ?? []
  const named = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  const isDocumented = (key: string) =>
    list.split('\n- ').some(item => {
      const [own = '', excepted = ''] = item.split('except')
      const section = `[${key.slice(0, key.indexOf('.'))}]`
      return (
        named(own).some(name => [key, section].includes(name)) && !named(excepted).includes(key)
      )
    })
  const { settings: running } = resolveSettings({})
  const keys = [...settingTable.keys()].filter(key => key.includes('.'))
  const logged: Record<'taken' | 'left', string[]> = { taken: [], left: [] }
  const calls: string[] = []
  // Another value for every setting; what it is does not matter here.
  const changed = Object.fromEntries(
    Object.entries(running).map(([section, rows]) => [
      section,
      Object.fromEntries(Object.keys(rows).map(name => [name, 'changed'])),
    ]),
  )
  const recorder = (to: keyof typeof logged) => (about: { settings: string[] }) =>
    logged[to].push(...about.settings)
  const messageOf = (read: () => unknown) =>
    ({
      registry: { settings: running },
      server: { renewTls: () => calls.push('certificates') },
      log: { info: recorder('taken'), warn: recorder('left'), error: () => calls.push('error') },
      read,
      answer: () => calls.push('answer'),
    }) as unknown as Reload
  reload(messageOf(() => changed))
  assert.deepEqual(logged.taken, keys.filter(isDocumented))
  assert.deepEqual(
    logged.left,
    keys.filter(key => !isDocumented(key)),
  )
  assert.ok(logged.taken.length > 30 && logged.left.length > 30)
  reload(
    messageOf(() => {
      throw new Error('a file that cannot be read')
    }),
  )
  assert.deepEqual(calls, ['certificates', 'answer', 'certificates', 'error'])
})
