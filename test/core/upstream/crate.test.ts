import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  acceptChange,
  type SeenFile,
  seeFile,
  type UpstreamCrate,
} from '../../../core/upstream/crate.ts'
import { withYanked } from '../../../core/upstream/line.ts'
import { parseVersion } from '../../../core/version.ts'
import { at, line } from './lines.ts'

const file = (...lines: SeenFile['lines']): SeenFile => ({ etag: '"e"', lastModified: null, lines })

function see(files: readonly SeenFile[]) {
  const alarms: string[][] = []
  let crate: UpstreamCrate | null = null
  for (const [hour, seen] of files.entries()) {
    const after: ReturnType<typeof seeFile> = seeFile(crate, seen, at(hour))
    crate = after.crate
    alarms.push(after.alarms.map(({ kind, version }) => `${kind} ${version}`))
  }
  return { crate: crate ?? assert.fail(), alarms }
}

const texts = ({ lines }: UpstreamCrate) => [...lines.values()].map(({ text }) => text)

test('a line once seen changes only in `yanked`; anything else raises an alarm once', () => {
  const [first, second] = [line('1.0.0'), line('2.0.0')]
  const edited = line('1.0.0', { links: 'z' })
  const republished = line('2.0.0', { cksum: 'b' })
  const yankedToo = withYanked(edited, true)
  const { crate, alarms } = see([
    file(first, second),
    file(withYanked(first, true), second),
    file(edited, republished),
    file(edited, republished),
    file(yankedToo, second),
  ])
  assert.deepEqual(alarms, [[], [], ['line 1.0.0', 'checksum 2.0.0'], [], ['line 1.0.0']])
  assert.deepEqual(texts(crate), [withYanked(first, true).text, second.text])
  assert.equal(crate.sightings.get(parseVersion('1.0.0'))?.claim, yankedToo.text)
  assert.equal(crate.sightings.get(parseVersion('2.0.0')), undefined)
})

test('a version that vanishes stays, is told once, and may come back', () => {
  const [first, second] = [line('1.0.0'), line('2.0.0')]
  const { crate, alarms } = see([file(first, second), file(second), file(second)])
  assert.deepEqual(alarms, [[], ['gone 1.0.0'], []])
  assert.deepEqual(texts(crate), [second.text, first.text])
  assert.deepEqual(crate.sightings.get(parseVersion('1.0.0')), { gone: '2026-08-01T01:00:00Z' })
  const back = seeFile(crate, file(first, second), at(9))
  assert.deepEqual([back.alarms, back.crate.sightings.size], [[], 0])
})

test('a yank is dated when it was seen to happen, and not when it was there before', () => {
  const [first, second] = [line('1.0.0'), line('2.0.0')]
  const { crate } = see([
    file(withYanked(first, true), second),
    file(withYanked(first, true), withYanked(second, true)),
    file(withYanked(first, true), withYanked(second, true)),
  ])
  assert.deepEqual([...crate.sightings], [['2.0.0', { yanked: '2026-08-01T01:00:00Z' }]])
})

test('what somebody accepts is from then on the line, or no line', () => {
  const [first, second] = [line('1.0.0'), line('2.0.0')]
  const edited = line('1.0.0', { links: 'z' })
  const { crate } = see([file(first, second), file(edited)])
  const accepted = acceptChange(acceptChange(crate, first.version), second.version)
  assert.deepEqual(texts(accepted), [edited.text])
  assert.deepEqual(seeFile(accepted, file(edited), at(5)).alarms, [])
  const { crate: goneToo } = see([file(first, second), file(edited, second), file(second)])
  assert.deepEqual(texts(acceptChange(goneToo, first.version)), [second.text])
})
