import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { pack } from 'tar-stream'
import { type Code, Refusal } from '../../../core/error/error.ts'
import { parseName } from '../../../core/name.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import { backup } from '../../../generator/backup/backup.ts'
import { restore } from '../../../generator/backup/restore.ts'
import { openRegistry } from '../../../generator/open.ts'
import { build } from '../../../generator/pages/build.ts'
import { LAST_BACKUP, readValue } from '../../../generator/records/values.ts'
import { deleteReleases } from '../../../generator/registry/changes/delete.ts'
import { initRegistry, type Registry } from '../../../generator/registry/registry.ts'
import { verifyCrates } from '../../../generator/verify/crates.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { findingsOf } from '../../support/findings.ts'
import { treeDigest } from '../../support/folder.ts'
import { withQueryHook } from '../../support/query-hook.ts'
import { refusedWith } from '../../support/refusal.ts'
import { scratch } from '../../support/scratch.ts'
import { addCrate, OPERATOR, storedPath } from '../../support/workplace.ts'

const folder = scratch(new Cleanup({ after }))

async function makeRegistry(name: string): Promise<Registry> {
  const dir = join(folder, name)
  await initRegistry(dir, { env: {} }, {})
  return openRegistry(dir, { env: {} })
}

const file = join(folder, 'registry.tar')

/** What is half-written. */
const leftovers = () => readdirSync(folder).filter(name => name.startsWith('.'))

test('a backup is not written into the public tree', async () => {
  const registry = await makeRegistry('open')
  await build(registry)
  const { root } = registry.tree
  symlinkSync(root, join(folder, 'link'))
  const before = treeDigest(root)
  for (const path of [
    join(root, 'a.tar'),
    join(root, 'new', 'b.tar'),
    join(folder, 'link', 'c.tar'),
  ])
    await assert.rejects(backup(registry, path), refusedWith('backup_public'))
  assert.equal(treeDigest(root), before)
  await backup(registry, join(registry.dir, 'public.tar'))
  await registry.close()
})

test('a copy of the records that is damaged is no backup', async () => {
  const registry = await makeRegistry('damaged')
  const database = withQueryHook(registry.database, (sql, [copy]) => {
    if (!sql.startsWith('VACUUM INTO')) return
    const bytes = readFileSync(String(copy))
    writeFileSync(String(copy), bytes.fill(7, 4096, 8192))
  })
  const target = join(folder, 'damaged.tar')
  const refused = refusedWith('database_damaged')
  await assert.rejects(backup({ ...registry, database }, target), refused)
  assert.ok(!existsSync(target))
  assert.deepEqual(leftovers(), [])
  await registry.close()
})

test('a restored registry renders to the same tree, and what came after the backup is not in it', async () => {
  const registry = await makeRegistry('first')
  await addCrate(registry, { name: 'one', version: '1.0.0' })
  await addCrate(registry, { name: 'Two', version: '0.1.0+meta' })
  await build(registry, { all: true })
  const before = treeDigest(registry.tree.root)
  assert.deepEqual(await backup(registry, file), { crateFiles: 2, lost: [] })
  await addCrate(registry, { name: 'late', version: '1.0.0' })
  await registry.close()
  const dir = join(folder, 'second')
  assert.equal((await restore(file, dir, { env: {} })).crateFiles, 2)
  const restored = await openRegistry(dir, { env: {} })
  await build(restored, { all: true })
  assert.equal(treeDigest(restored.tree.root), before)
  assert.deepEqual(await findingsOf(verifyCrates(restored, { repair: false, served: false })), [])
  await restored.close()
  assert.deepEqual(leftovers(), [])
})

/** Damages a copy of the backup; nothing may be left where it was to be restored. */
async function refusesDamaged(code: Code, damage: (path: string) => void): Promise<void> {
  const [copy, dir] = [join(folder, 'damaged.tar'), join(folder, 'third')]
  writeFileSync(copy, readFileSync(file))
  damage(copy)
  await assert.rejects(restore(copy, dir, { env: {} }), refusedWith(code))
  assert.equal(existsSync(dir), false)
}

test('refuses a backup that was cut off anywhere, also exactly between two of its files', async () => {
  const whole = readFileSync(file)
  const cuts = new Set<number>()
  // Each header says `ustar` at 257; a cut there leaves whole files only, as if nothing had come after them.
  for (let at = 0; at < whole.length; at += 512) {
    if (whole.subarray(at + 257, at + 262).toString() !== 'ustar') continue
    for (const cut of [at, at + 300, at + 512, at + 512 + 100]) cuts.add(cut)
  }
  const [copy, dir] = [join(folder, 'cut.tar'), join(folder, 'cut')]
  assert.ok(cuts.size >= 16)
  const refused = (error: unknown) =>
    error instanceof Refusal && (error.has('backup_unreadable') || error.has('backup_incomplete'))
  for (const cut of cuts) {
    writeFileSync(copy, whole.subarray(0, cut))
    await assert.rejects(restore(copy, dir, { env: {} }), refused, `cut at ${cut}`)
    assert.equal(existsSync(dir), false)
  }
})

test('refuses a backup in which a .crate has changed', () =>
  refusesDamaged('backup_damaged', path => {
    const bytes = readFileSync(path)
    const start = bytes.lastIndexOf('.crate') - (bytes.lastIndexOf('.crate') % 512) + 512
    bytes[start + 40] = (bytes[start + 40] ?? 0) ^ 1
    writeFileSync(path, bytes)
  }))

test('refuses a backup whose records are damaged', () =>
  refusesDamaged('backup_unreadable', path => {
    const bytes = readFileSync(path)
    const start = bytes.indexOf('SQLite format 3')
    bytes.fill(0x55, start + 4096, start + 4096 + 2000)
    writeFileSync(path, bytes)
  }))

test('bytes that are lost or damaged are named, and the backup has everything else', async () => {
  const registry = await makeRegistry('lossy')
  await addCrate(registry, { name: 'one', version: '1.0.0' })
  rmSync(registry.crates.place.name, { recursive: true })
  await addCrate(registry, { name: 'two', version: '1.0.0' })
  const { release } = await addCrate(registry, { name: 'three', version: '1.0.0' })
  const path = storedPath(registry, crateKey(release.name, release.entry.cksum))
  const bytes = readFileSync(path)
  rmSync(path)
  writeFileSync(path, bytes.fill(7, 20, 40))
  const fourth = (await addCrate(registry, { name: 'four', version: '1.0.0' })).release
  const special = storedPath(registry, crateKey(fourth.name, fourth.entry.cksum))
  rmSync(special)
  symlinkSync('/dev/zero', special)
  const lossy = join(folder, 'lossy.tar')
  const { crateFiles, lost } = await backup(registry, lossy)
  assert.deepEqual(crateFiles, 1)
  assert.deepEqual(
    lost.map(({ code }) => code),
    ['crate_lost', 'crate_lost', 'crate_lost'],
  )
  assert.match(lost[0]?.message ?? '', /`one` 1\.0\.0 is missing from the crate store/)
  assert.match(lost[1]?.message ?? '', /`three` 1\.0\.0 is missing .* or damaged there/)
  // The alert for old backups goes on.
  assert.equal(await readValue(registry.database, LAST_BACKUP), null)
  await registry.close()
  const dir = join(folder, 'lossy-restored')
  assert.equal((await restore(lossy, dir, { env: {} })).crateFiles, 1)
  assert.deepEqual(leftovers(), [])
})

const settings = 'plimsoll-backup/plimsoll.toml'
const foreign: [what: string, names: string[], code: Code, text?: string][] = [
  ['climbs out', [settings, 'plimsoll-backup/crates/../../evil'], 'backup_foreign'],
  ['is absolute', ['/etc/passwd'], 'backup_foreign'],
  ['is unknown', [settings, 'plimsoll-backup/other'], 'backup_foreign'],
  ['does not begin with settings', ['plimsoll-backup/plimsoll.db', settings], 'backup_foreign'],
  ['is empty', [], 'backup_incomplete'],
  ['lacks the records', [settings], 'backup_incomplete'],
  ['has settings of another version alone', [settings], 'backup_incomplete', 'auth.new = true'],
]
for (const [what, names, code, text = ''] of foreign) {
  test(`refuses an archive that ${what}`, async () => {
    const archive = pack()
    for (const name of names) archive.entry({ name }, text)
    archive.finalize()
    const bytes = await buffer(archive)
    await refusesDamaged(code, path => writeFileSync(path, bytes))
  })
}

test('what is deleted while a backup is made is not in it, and does not spoil it', async () => {
  const registry = await makeRegistry('overtaken')
  for (const name of ['one', 'two', 'three']) await addCrate(registry, { name, version: '1.0.0' })
  const target = join(folder, 'overtaken.tar')
  let key = ''
  for await (const path of registry.crates.list()) if (path.includes('/two/')) key = path
  let deletion: Promise<unknown> | null = null
  // Whoever asks for the missing bytes finds the deletion done.
  const database = withQueryHook(registry.database, async sql => {
    if (!sql.includes('releases.cksum = ?')) return
    await deletion
  })
  const beside = { ...registry, database }
  const count = await backup(beside, target, () => {
    if (deletion) return
    rmSync(storedPath(registry, key))
    const target = { name: parseName('two'), version: null, force: false }
    deletion = deleteReleases(registry, target, OPERATOR)
  })
  assert.equal(count.crateFiles, 2)
  assert.equal((await restore(target, join(folder, 'after'), { env: {} })).crateFiles, 2)
  await registry.close()
})
