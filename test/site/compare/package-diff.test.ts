import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pairFiles } from '../../../site/compare/file-pairs.ts'
import { PackageDiff } from '../../../site/compare/package-diff.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { frugally } from '../../support/processor-time.ts'
import { scratch } from '../../support/scratch.ts'

type Texts = Readonly<Record<string, string | Uint8Array>>

const filesOf = (texts: Texts) =>
  new Map(Object.entries(texts).map(([path, text]) => [path, Uint8Array.from(Buffer.from(text))]))

const lines = (word: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${word} ${at}\n`).join('')

/** The output of `git diff -M50%` for two folders with these files. */
function byGit(t: TestContext, before: Texts, after: Texts): string[] {
  const cwd = scratch(new Cleanup(t))
  for (const [side, texts] of Object.entries({ before, after }))
    for (const [path, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(cwd, side, path)), { recursive: true })
      writeFileSync(join(cwd, side, path), text)
    }
  const args = ['diff', '--no-index', '-M50%', '--numstat', '-z', 'before', 'after']
  const { stdout } = spawnSync('git', args, { cwd, encoding: 'utf8' })
  const files = stdout.matchAll(/(\d+)\t(\d+)\t(?:\0([^\0]+)\0)?([^\0]+)\0/g)
  return Array.from(files, ([, added, removed, old = '', now = '']) => {
    const path = now === '/dev/null' ? old : now
    return `${path.slice(path.indexOf('/') + 1)} +${added} -${removed}`
  }).sort()
}

/** As many files as a browser cannot compare each with each; `end`: of their paths. */
const manyFiles = (folder: string, end: string): Texts =>
  Object.fromEntries(
    Array.from({ length: 800 }, (_, at) => [`${folder}/m${at}${end}`, lines(`m${at}${end}`, 40)]),
  )

const BEFORE: Texts = {
  'Cargo.toml': '[package]\nname = "a"\n',
  'src/lib.rs': `${lines('same', 50)}old\n${lines('more', 20)}`,
  'src/moved.rs': lines('moved', 30),
  'src/changed.rs': `${lines('kept', 30)}${lines('gone', 10)}`,
  'src/other.rs': lines('other', 30),
  'src/removed.rs': lines('removed', 12),
  'CRLF.txt': 'a\r\nb\r\n',
  'BOM.txt': 'a\nb\n',
  'Latin-1.txt': Buffer.from('café\nb\n', 'latin1'),
  'Encoding.txt': Buffer.from('café\nb\n', 'latin1'),
  ...manyFiles('src/many', '.rs'),
  ...manyFiles('src/many', '/mod.rs'),
}
const AFTER: Texts = {
  'Cargo.toml': '[package]\nname = "a"\nversion = "2"\n',
  'src/lib.rs': `${lines('same', 50)}new\nnewer\n${lines('more', 20)}`,
  'src/deep/moved.rs': lines('moved', 30),
  'src/deep/changed.rs': `${lines('kept', 30)}${lines('come', 5)}`,
  'src/another.rs': lines('another', 30),
  'src/added.rs': lines('added', 9),
  'CRLF.txt': 'a\nb\n',
  'BOM.txt': '\ufeffa\nb\n',
  'Latin-1.txt': Buffer.from('cafè\nb\n', 'latin1'),
  'Encoding.txt': 'café\nb\n',
  ...manyFiles('src/deep/many', '.rs'),
  ...manyFiles('src/deep/many', '/mod.rs'),
}

test('files, renames and numbers of lines are those of git', t => {
  const { files } = new PackageDiff(filesOf(BEFORE), filesOf(AFTER))
  const ours = files.map(({ path, lines }) => `${path} +${lines?.added} -${lines?.removed}`)
  assert.deepEqual(ours.sort(), byGit(t, BEFORE, AFTER))
  const renamed = files.filter(({ kind, path }) => kind === 'renamed' && !path.includes('/many/'))
  assert.deepEqual(
    renamed.map(file => `${file.before} ${file.after}`),
    ['src/changed.rs src/deep/changed.rs', 'src/moved.rs src/deep/moved.rs'],
  )
})

test('thousands of files that differ at their ends are paired without comparing all with all', () => {
  const files = (folder: string, mark: string) =>
    filesOf(
      Object.fromEntries(
        Array.from({ length: 1500 }, (_, at) => [
          `${folder}/${at}/mod.rs`,
          `${'a'.repeat(20_000)}${mark}${1000 + at}`,
        ]),
      ),
    )
  const [before, after] = [files('before', 'x'), files('after', 'y')]
  assert.ok(frugally(() => pairFiles(before, after)).length >= 1500)
})

test('what Cargo made comes last, and what is no text has no lines', () => {
  const binary = new Uint8Array([1, 0, 2])
  const diff = new PackageDiff(
    new Map([...filesOf({ 'Cargo.lock': 'a', 'z.rs': 'a', same: 'x' }), ['logo', binary]]),
    new Map([...filesOf({ 'Cargo.lock': 'b', 'z.rs': 'b', same: 'x' }), ['logo', binary.slice(1)]]),
  )
  assert.deepEqual(
    diff.files.map(file => [file.path, file.kind, file.lines === null, ...file.sizes]),
    [
      ['logo', 'changed', true, 3, 2],
      ['z.rs', 'changed', false, 1, 1],
      ['Cargo.lock', 'changed', false, 1, 1],
    ],
  )
  assert.equal(diff.hunks(0).length, 0)
  assert.equal(diff.hunks(1)[0]?.lines.length, 2)
})

test('a file is renamed to the one that has most of it', () => {
  const before = { a: lines('x', 100), b: lines('y', 100) }
  const after = { c: lines('x', 60) + lines('y', 55), d: lines('x', 95), b2: lines('y', 99) }
  const { files } = new PackageDiff(filesOf(before), filesOf(after))
  assert.deepEqual(
    files.map(file => `${file.kind} ${file.before} ${file.after}`),
    ['renamed b b2', 'added null c', 'renamed a d'],
  )
})
