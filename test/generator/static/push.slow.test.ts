// Mirrors generator/static/push.ts

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Code, Refusal } from '../../../core/error/error.ts'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { sha256 } from '../../../core/sha256.ts'
import { registryUrls } from '../../../core/urls/urls.ts'
import type { Place } from '../../../generator/places/place.ts'
import { followers } from '../../../generator/projections/projections.ts'
import { buildStatic } from '../../../generator/static/build.ts'
import { openPushFolder, type PushResult, push } from '../../../generator/static/push.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { buildEvil, type CrateParts } from '../../support/crate-builder.ts'
import { filesBelow } from '../../support/folder.ts'
import { refusedWith } from '../../support/refusal.ts'
import { bucketOn, startS3 } from '../../support/s3/bucket.ts'
import { objectOf } from '../../support/s3/objects.ts'
import type { FakeS3 } from '../../support/s3/server.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const BASE = 'https://crates.example'
const OWN = `registry-index = "sparse+${BASE}/index/"`
const needs = (name: string) => `[dependencies.${name}]\nversion = "1"\n${OWN}`

type Files = ReadonlyMap<string, Buffer>

/** A place to push to, opened anew by each push, and the files there. */
interface Target {
  open(): Promise<{ place: Place; close(): Promise<void> }>
  files(): Files
  put(path: string, text: string): void
}

function settingsOf(more = '', base = BASE) {
  const text = `${more}\n[registry]\nbase_url = "${base}"\napi = "none"\n`
  const { settings } = resolveSettings({ file: { name: 'plimsoll.toml', text } })
  return { settings, urls: registryUrls(settings.registry, base) }
}

function folderPlace(folder: string): Target {
  mkdirSync(folder, { recursive: true })
  return {
    open: () => openPushFolder(folder),
    files() {
      const paths = filesBelow(folder).filter(path => !path.startsWith('.push/lock'))
      return new Map(paths.map(path => [path, readFileSync(join(folder, path))]))
    },
    put(path, text) {
      mkdirSync(join(folder, path, '..'), { recursive: true })
      writeFileSync(join(folder, path), text)
    },
  }
}

function bucketPlace(s3: FakeS3, prefix: string): Target {
  return {
    open: async () => ({ place: bucketOn(s3, prefix), close: async () => undefined }),
    files() {
      const own = [...s3.objects].filter(([key]) => key.startsWith(`${prefix}/`)).sort()
      return new Map(own.map(([key, { bytes }]) => [key.slice(prefix.length + 1), bytes]))
    },
    put(path, text) {
      s3.objects.set(`${prefix}/${path}`, objectOf(Buffer.from(text), {}))
    },
  }
}

type Play = (t: TestContext, place: Target, newPlace: () => Target) => Promise<void>

/** A test for both kinds of places. */
function forEach(what: string, play: Play): void {
  let places = 0
  test(`folder: ${what}`, t => {
    const root = folderOf(t)
    const newPlace = () => folderPlace(join(root, `${places++}`))
    return play(t, newPlace(), newPlace)
  })
  test(`bucket: ${what}`, async t => {
    const s3 = await startS3(new Cleanup(t))
    const newPlace = () => bucketPlace(s3, `place-${places++}`)
    return play(t, newPlace(), newPlace)
  })
}

let count = 0

/** Writes a `.crate` somewhere below `folder`. */
function crate(folder: string, name: string, version = '1.0.0', more: Partial<CrateParts> = {}) {
  const file = join(folder, `${count++}-${name}-${version}.crate`)
  return writeCrate(file, { name, version, ...more })
}

/** Pushes files as a process of its own would. */
async function pushTo(
  place: Pick<Target, 'open'>,
  files: readonly string[],
  config = settingsOf(),
): Promise<PushResult> {
  const { place: to, close } = await place.open()
  return push({ files, to, ...config }).finally(close)
}

function versions(files: Files, path: string): string[] {
  const lines = (files.get(path)?.toString() ?? '').trimEnd().split('\n')
  return lines.map(line => (JSON.parse(line) as { vers: string }).vers)
}

/** Every line of the index has its `.crate`, with its bytes. */
function assertSound(files: Files): void {
  for (const [path, bytes] of files) {
    if (!path.startsWith('index/') || path === 'index/config.json') continue
    for (const line of bytes.toString().trimEnd().split('\n')) {
      const { name, vers, cksum } = JSON.parse(line) as Record<string, string>
      const there = files.get(`crates/${name}/${name}-${vers}.crate`) ?? ''
      assert.equal(sha256(there), cksum, path)
    }
  }
}

forEach('packages lie where the own `dl` leads, as a build has them', async (t, place) => {
  const from = folderOf(t)
  const file = crate(from, 'Demo', '1.0.0+b')
  const { settings, urls } = settingsOf()
  const config = { settings, urls: { ...urls, dl: `${BASE}/f/{prefix}/{crate}/{version}` } }
  assert.equal((await pushTo(place, [file], config)).files[0]?.outcome, 'pushed')
  const out = join(folderOf(t), 'out')
  await buildStatic({ followers, from, out, ...config, cache: null })
  const packages = filesBelow(out).filter(path => /^f\/|\.crate$/.test(path))
  assert.deepEqual(packages, ['f/De/mo/Demo/1.0.0+b'])
  assert.ok(place.files().get('f/De/mo/Demo/1.0.0+b')?.equals(readFileSync(file)))
  assert.equal((await pushTo(place, [file], config)).files[0]?.outcome, 'present')
})

forEach('20 pushes at once make the index and crates of a build', async (t, place) => {
  const from = folderOf(t)
  // Versions of one crate, which all change one file, and others that need it; each file twice.
  const files = [
    ...Array.from({ length: 8 }, (_, minor) => crate(from, 'demo', `1.${minor}.0`)),
    crate(from, 'in-need', '1.0.0'),
    crate(from, 'in-need', '1.0.1'),
  ]
  const results = await Promise.all([...files, ...files].map(file => pushTo(place, [file])))
  assert.equal(results.flatMap(result => result.files).length, 20)
  const there = place.files()
  assertSound(there)
  const out = join(folderOf(t), 'built')
  await buildStatic({ followers, from, out, ...settingsOf(), cache: null })
  const built = folderPlace(out).files()
  const expected = [...built.keys()].filter(path => /^index\/|\.crate$/.test(path))
  assert.deepEqual([...there.keys()].sort(), expected)
  for (const path of expected) assert.deepEqual(there.get(path), built.get(path), path)
  const again = await pushTo(place, files)
  assert.ok(again.files.every(file => file.outcome === 'present'))
  assert.deepEqual(place.files(), there)
})

forEach('of two pushes of one version one wins, and the other says so', async (t, place) => {
  const from = folderOf(t)
  const files = ['first', 'second'].map(text =>
    crate(from, 'demo', '1.0.0', { files: { 'src/lib.rs': `// ${text}\n` } }),
  )
  const ends = await Promise.allSettled(files.map(file => pushTo(place, [file])))
  const lost = ends.filter(end => end.status === 'rejected')
  assert.equal(lost.length, 1)
  const error = lost[0]?.reason as Refusal
  assert.ok(error.has('version_taken') || error.has('push_unlisted'), error.message)
  assert.deepEqual(versions(place.files(), 'index/de/mo/demo'), ['1.0.0'])
  assertSound(place.files())
  const loser = files[ends.findIndex(end => end.status === 'rejected')] ?? ''
  await assert.rejects(pushTo(place, [loser]), refusedWith('version_taken'))
  // Build metadata makes no other version, but another file.
  const other = crate(from, 'demo', '1.0.0+more')
  await assert.rejects(pushTo(place, [other]), refusedWith('version_taken'))
  const twins = ['+a', '+b', '+c'].map(end => crate(from, 'demo', `2.0.0${end}`))
  const results = await Promise.allSettled(twins.map(file => pushTo(place, [file])))
  const isDone = (end: PromiseSettledResult<PushResult>) =>
    end.status === 'fulfilled' && end.value.refused.length === 0
  assert.equal(results.filter(isDone).length, 1)
  assert.equal(versions(place.files(), 'index/de/mo/demo').length, 2)
  const kept = [...place.files().keys()].filter(path => path.includes('demo-2.0.0'))
  assert.equal(kept.length, 1)
  assertSound(place.files())
})

forEach('of two spellings of a new name one wins', async (t, place) => {
  const from = folderOf(t)
  const files = ['in-need', 'in_need', 'In_Need', 'IN-need'].map(name => crate(from, name))
  const ends = await Promise.allSettled(files.map(file => pushTo(place, [file])))
  const done = ends.filter(end => end.status === 'fulfilled' && end.value.refused.length === 0)
  assert.equal(done.length, 1)
  assertSound(place.files())
  const paths = [...place.files().keys()].filter(path => path.startsWith('index/in/'))
  assert.equal(paths.length, 1)
  assert.equal(versions(place.files(), paths[0] ?? '').length, 1)
  const late = files[ends.findIndex(end => end.status === 'rejected')] ?? ''
  await assert.rejects(pushTo(place, [late]), refusedWith('name_taken'))
})

forEach('checks are those of a build, and what is refused changes nothing', async (t, place) => {
  const from = folderOf(t)
  await pushTo(place, [crate(from, 'in-need')])
  const before = place.files()
  const refusals: [Code, string[]][] = [
    ['dependency_missing', [crate(from, 'user', '1.0.0', { manifest: needs('absent') })]],
    ['dependency_misspelled', [crate(from, 'user', '1.0.0', { manifest: needs('in_need') })]],
    ['twin_files', [crate(from, 'a'), crate(from, 'a', '1.0.0', { files: { x: '' } })]],
    ['name_twins', [crate(from, 'a-b'), crate(from, 'a_b')]],
  ]
  for (const [code, files] of refusals)
    await assert.rejects(pushTo(place, [crate(from, 'good'), ...files]), refusedWith(code))
  const evil = join(from, 'evil.crate')
  writeFileSync(evil, buildEvil('not gzip'))
  await assert.rejects(pushTo(place, [evil]), Refusal)
  const good = [crate(from, 'good')]
  const elsewhere = settingsOf('', 'https://other.example')
  await assert.rejects(pushTo(place, good, elsewhere), refusedWith('push_other_config'))
  const strict = settingsOf('[policy]\nreserved_names_extra = ["good"]\n')
  await assert.rejects(pushTo(place, good, strict), Refusal)
  assert.deepEqual(place.files(), before)
  await pushTo(place, [crate(from, 'user', '1.0.0', { manifest: needs('in-need') })])
})

forEach('lines that are there stay as they are', async (t, place) => {
  const from = folderOf(t)
  await pushTo(place, [crate(from, 'demo', '1.0.0'), crate(from, 'demo', '1.2.0')])
  const path = 'index/de/mo/demo'
  const [first = '', last = ''] = (place.files().get(path)?.toString() ?? '').split('\n')
  const odd = first.replace('"yanked":false', '"yanked": true, "of_others":[1]')
  place.put(path, `${odd}\n${last}\n`)
  await pushTo(place, [crate(from, 'demo', '1.1.0')])
  const lines = (place.files().get(path)?.toString() ?? '').split('\n')
  assert.deepEqual([lines[0], lines[2], lines.length], [odd, last, 4])
  place.put(path, 'what is this?\n')
  await assert.rejects(pushTo(place, [crate(from, 'demo', '1.3.0')]), refusedWith('entry_not_json'))
})

test('a folder with other things is left alone', async t => {
  const folder = folderOf(t)
  writeFileSync(join(folder, 'thesis.txt'), '')
  await assert.rejects(openPushFolder(folder), refusedWith('folder_in_use'))
  // The folder of a repository for Pages.
  const pages = folderOf(t)
  for (const name of ['.gitkeep', 'CNAME']) writeFileSync(join(pages, name), '')
  await (await openPushFolder(pages)).close()
  // What a push leaves that died at once is nothing else.
  const died = folderOf(t)
  mkdirSync(join(died, 'index'))
  writeFileSync(join(died, 'index', '.writing-00'), '')
  await (await openPushFolder(died)).close()
})

forEach('killed at any step, a second push completes it', async (t, whole, newPlace) => {
  const from = folderOf(t)
  // A push does all it can: a new name with a separator, and a need for it.
  const manifest = needs('in-need')
  const files = [crate(from, 'in-need'), crate(from, 'user', '1.0.0', { manifest })]
  await pushTo(whole, files)
  let isKilled = true
  for (let at = 0; isKilled; at++) {
    const place = newPlace()
    let left = at
    const open = async () => {
      const { place: to, close } = await place.open()
      return { place: dying(to, () => left-- > 0), close }
    }
    isKilled = await pushTo({ open }, files).then(
      () => false,
      () => true,
    )
    assertSound(place.files())
    if (isKilled) await pushTo(place, files)
    else assert.ok(at > 15, `${at} steps`)
    assert.deepEqual(place.files(), whole.files(), `killed at step ${at}`)
  }
})

test('bucket: a push whose every answer is lost once is done all the same', async t => {
  const s3 = await startS3(new Cleanup(t))
  const place = bucketPlace(s3, 'www')
  const lost = new Set<string>()
  s3.fault = ({ method, key }) =>
    method === 'PUT' && !lost.has(key) && lost.add(key) ? 'lost' : null
  const result = await pushTo(place, [crate(folderOf(t), 'in-need')])
  assert.deepEqual([result.files[0]?.outcome, result.refused], ['pushed', []])
  assert.ok(lost.size > 3, String([...lost]))
  assertSound(place.files())
})

/** A place of which no step is done any more once `isAlive` says no. */
function dying(to: Place, isAlive: () => boolean): Place {
  return new Proxy(to, {
    get: (_, name) => {
      const step = Reflect.get(to, name, to)
      if (typeof step !== 'function') return step
      return (...args: unknown[]) => {
        if (name === 'list' || name === 'local' || isAlive()) return step.apply(to, args)
        return Promise.reject(new Error('killed'))
      }
    },
  })
}

test('what a push that died left is named: its .crate, and its name', async t => {
  const s3 = await startS3(new Cleanup(t))
  const place = bucketPlace(s3, 'www')
  const from = folderOf(t)
  s3.fault = ({ method, key }) => (method === 'PUT' && key.includes('index/in') ? 403 : null)
  const died = crate(from, 'in-need')
  assert.equal((await pushTo(place, [died])).refused.length, 1)
  s3.fault = () => null
  const other = crate(from, 'in-need', '1.0.0', { files: { 'src/lib.rs': '//' } })
  await assert.rejects(pushTo(place, [other]), error => {
    refusedWith('push_unlisted')(error)
    return /remove s3:\/\/test\/www\/crates\/in-need\/in-need-1\.0\.0\.crate/.test(String(error))
  })
  await assert.rejects(pushTo(place, [crate(from, 'in_need')]), error => {
    refusedWith('push_reserved')(error)
    return /remove s3:\/\/test\/www\/\.push\/in_need /.test(String(error))
  })
  assert.equal((await pushTo(place, [died])).files[0]?.outcome, 'pushed')
  assert.ok([...place.files().keys()].every(path => !path.startsWith('.push/')))
})
