import assert from 'node:assert/strict'
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tar } from '../../support/crate-builder.ts'
import { plimsollHere } from '../../support/program.ts'
import { folderOf } from '../../support/workplace.ts'

const TB = 1024 ** 4
/** The largest that a header can say in octal. */
const HUGE = 8 * 1024 ** 3 - 1

test('a restore ends: zeros without an end before, in and behind its files', {
  timeout: 120_000,
}, async t => {
  const folder = folderOf(t)
  const at = (name: string) => join(folder, name)
  await plimsollHere(['init', '--dir', at('live'), '--base-url', 'https://new.example'])
  await plimsollHere(['backup', at('backup.tar'), '--dir', at('live')])
  const whole = readFileSync(at('backup.tar'))
  // The records have a header of one block.
  const settings = whole.subarray(0, whole.indexOf('SQLite format 3') - 512)
  const head = (name: string) =>
    tar([{ path: `plimsoll-backup/${name}`, size: HUGE }]).subarray(0, 512)
  const after = (name: string) => Buffer.concat([settings, head(name)])
  const cases: [what: Buffer, said: RegExp][] = [
    [Buffer.alloc(0), /more than 16 MiB of it are in no file/],
    [whole, /more than 16 MiB of it are in no file/],
    [head('plimsoll.toml'), /plimsoll\.toml in .* is larger than the limit of 8\.0 MiB/],
    [after('plimsoll.db'), /cannot be read as a backup: its records are damaged/],
    [after('lost.json'), /lost\.json in .* is larger than the limit of 64 MiB/],
    [
      after(`crates/x/x/${'0'.repeat(64)}.crate`),
      /crate in .* is larger than the limit of 1\.0 GiB/,
    ],
  ]
  for (const [bytes, said] of cases) {
    writeFileSync(at('endless'), bytes)
    truncateSync(at('endless'), TB)
    const { code, stderr } = await plimsollHere(['restore', at('endless'), '--dir', at('restored')])
    assert.deepEqual([code, said.test(stderr)], [1, true], stderr)
    assert.equal(existsSync(at('restored')), false)
  }
})
