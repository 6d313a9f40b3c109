import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Advisory } from '../../../core/advisory/advisory.ts'
import { parseRustSec } from '../../../core/advisory/rustsec.ts'
import { acceptChange, seeFile, type UpstreamCrate } from '../../../core/upstream/crate.ts'
import { explainCrate } from '../../../core/upstream/explain.ts'
import { type UpstreamLine, withYanked } from '../../../core/upstream/line.ts'
import { lureOf, showFile, type UpstreamPolicy, verdictsOf } from '../../../core/upstream/policy.ts'
import { DENIED_KINDS, parseRule } from '../../../core/upstream/rules.ts'
import { rustSecFile } from '../../support/advisories.ts'
import { at, line } from './lines.ts'

const DAY = 86_400
const OLD = { pubtime: '2026-01-01T00:00:00Z' }

function policy(fields: Partial<UpstreamPolicy> = {}): UpstreamPolicy {
  const advisories = { denies: 'off', known: [] } as const
  const none = { hold: 0, allow: [], deny: [], lureGuard: false, allowed: new Set<never>() }
  return { ...none, advisories, ...fields }
}

const verdictOf = (crate: UpstreamCrate, line: UpstreamLine, policy: UpstreamPolicy, now: Date) =>
  verdictsOf(crate, policy, now).get(crate.lines.get(line.version) ?? line) ?? assert.fail()

/** An advisory on all versions before 2.0.0. */
function hole(id: string, informational: string | null): Advisory {
  const more = informational === null ? '' : `informational = "${informational}"`
  return parseRustSec(rustSecFile({ id, patched: ['>= 2.0.0'], more }))[0] ?? assert.fail()
}

const rules = (...texts: string[]) =>
  texts.map(text => parseRule(text, 'deny') ?? assert.fail(text))

function crateOf(...files: readonly (readonly UpstreamLine[])[]): UpstreamCrate {
  let crate: UpstreamCrate | null = null
  for (const [hour, lines] of files.entries())
    crate = seeFile(crate, { etag: null, lastModified: null, lines }, at(hour)).crate
  return crate ?? assert.fail()
}

test('without a policy every byte is as the upstream has it', () => {
  const lines = [line('1.0.0'), withYanked(line('2.0.0'), true), line('3.0.0')]
  const shown = showFile(crateOf(lines), policy(), at(0))
  assert.equal(shown.text, lines.map(({ text }) => `${text}\n`).join(''))
  assert.deepEqual([shown.until, shown.undated], [null, 0])
})

test('young versions are yanked until they are old enough, undated ones until they are allowed', () => {
  const [old, young, undated] = [
    line('1.0.0', { pubtime: '2026-07-01T00:00:00Z' }),
    line('2.0.0', { pubtime: '2026-07-31T12:00:00Z' }),
    line('3.0.0'),
  ]
  const crate = crateOf([old, young, undated])
  const shown = showFile(crate, policy({ hold: DAY }), at(0))
  const expected = [old, withYanked(young, true), withYanked(undated, true)]
  assert.equal(shown.text, expected.map(({ text }) => `${text}\n`).join(''))
  assert.deepEqual([shown.until, shown.undated], [Date.UTC(2026, 7, 1, 12), 1])
  assert.deepEqual(showFile(crate, policy({ hold: DAY }), at(12)).until, null)
  const stateOf = (fields: Partial<UpstreamPolicy>, which: UpstreamLine) =>
    verdictOf(crate, which, policy({ hold: DAY, ...fields }), at(0)).state
  assert.equal(stateOf({}, young), 'held')
  assert.equal(stateOf({ allow: rules('foo@2') }, young), 'shown')
  assert.equal(stateOf({ allowed: new Set([undated.version]) }, undated), 'shown')
  assert.equal(stateOf({ allow: rules('foo'), deny: rules('foo@>=2') }, young), 'denied')
  assert.equal(stateOf({ deny: rules('foo@>=2') }, old), 'shown')
  // Cargo takes a leap second for a time.
  const leap = line('4.0.0', { pubtime: '2026-07-31T12:00:60Z' })
  const held = { state: 'held', until: Date.UTC(2026, 7, 1, 12, 0, 59) }
  assert.deepEqual(verdictOf(crateOf([leap]), leap, policy({ hold: DAY }), at(0)), held)
})

test('a time at the end of what a text can say is later than now, and said as a date', () => {
  const far = line('1.0.0', { pubtime: '9999-12-31T23:59:59Z' })
  const crate = crateOf([far])
  const hold = policy({ hold: DAY })
  assert.equal(verdictOf(crate, far, hold, at(0)).state, 'held')
  assert.equal(explainCrate('up', crate, hold, at(0))[0]?.until, '9999-12-31')
  const guarded = { ...hold, lureGuard: true }
  assert.equal(showFile(crate, guarded, at(0)).text, `${withYanked(far, true).text}\n`)
})

test('a version that is new to a known crate is held from when it was seen, whatever it says', () => {
  const [first, backdated] = [line('1.0.0', OLD), line('1.1.0', OLD)]
  const hold = policy({ hold: DAY })
  const stateOf = (crate: UpstreamCrate, hour: number) =>
    verdictOf(crate, backdated, hold, at(hour)).state
  assert.equal(stateOf(crateOf([first, backdated]), 0), 'shown')
  const crate = crateOf([first], [first, backdated], [first], [first, backdated])
  assert.deepEqual(
    [2, 24, 25].map(hour => stateOf(crate, hour)),
    ['held', 'held', 'shown'],
  )
  assert.equal(stateOf(acceptChange(crate, backdated.version), 2), 'held')
  // Its yanked neighbors are still those of a lure.
  for (const lure of [backdated, line('1.1.0')]) {
    const around = crateOf([first], [withYanked(first, true), lure])
    assert.equal(lureOf(around, hold, at(2))?.version, '1.1.0')
  }
  const future = line('2.0.0', { pubtime: '9999-12-31T23:59:59Z' })
  const later = crateOf([first], [first, future])
  assert.deepEqual(
    [2, 25].map(hour => verdictOf(later, future, hold, at(hour)).state),
    ['held', 'shown'],
  )
})

test('denied and vanished versions are yanked, and only what is there is shown offline', () => {
  const [first, second] = [line('1.0.0'), line('2.0.0')]
  const crate = crateOf([first, second], [second])
  assert.deepEqual(verdictOf(crate, second, policy({ deny: rules('f*') }), at(2)), {
    state: 'denied',
    rule: 'deny: f*',
  })
  assert.deepEqual(verdictOf(crate, first, policy(), at(2)), { state: 'gone' })
  const shown = showFile(crate, policy(), at(2), ({ version }) => version === '1.0.0')
  assert.equal(shown.text, `${withYanked(first, true).text}\n`)
})

test('a held version for which all others are yanked is a lure; the guard shows them for a day', () => {
  const [first, second] = [line('1.0.0', OLD), line('1.1.0', OLD)]
  const lure = line('1.2.0', { pubtime: '2026-08-01T01:30:00Z' })
  const yanked = [first, second].map(each => withYanked(each, true))
  const crate = crateOf([first, second], [first, second], [...yanked, lure])
  const held = policy({ hold: 7 * DAY })
  assert.deepEqual(lureOf(crate, held, at(3)), {
    name: 'foo',
    version: '1.2.0',
    yanked: new Set(['1.0.0', '1.1.0']),
  })
  const states = (applied: UpstreamPolicy, hour: number) =>
    [first, second, lure].map(
      each => verdictOf(crate, crate.lines.get(each.version) ?? each, applied, at(hour)).state,
    )
  assert.deepEqual(states(held, 3), ['yanked', 'yanked', 'held'])
  const guarded = { ...held, lureGuard: true }
  assert.deepEqual(states(guarded, 3), ['guarded', 'guarded', 'held'])
  const shown = showFile(crate, guarded, at(3))
  assert.equal(
    shown.text,
    [first, second, withYanked(lure, true)].map(({ text }) => `${text}\n`).join(''),
  )
  assert.equal(shown.until, Date.UTC(2026, 7, 2, 2))
  assert.deepEqual(states(guarded, 26), ['yanked', 'yanked', 'held'])
  // Whoever allows the release decides that it is no lure.
  assert.deepEqual(states({ ...guarded, allowed: new Set([lure.version]) }, 3), [
    'yanked',
    'yanked',
    'shown',
  ])
})

test('no lure: a version that is still good, yanks long ago or unseen, a release nobody holds', () => {
  const [first, second] = [line('1.0.0', OLD), line('1.1.0', OLD)]
  const release = line('1.2.0', { pubtime: '2026-08-01T01:30:00Z' })
  const late = line('1.2.0', { pubtime: '2026-08-05T00:00:00Z' })
  const yanked = (each: UpstreamLine) => withYanked(each, true)
  const quiet = Array.from({ length: 95 }, () => [yanked(first)])
  const held = policy({ hold: 70 * DAY })
  const rows: [string, UpstreamCrate, UpstreamPolicy][] = [
    ['good', crateOf([first, second], [yanked(first), second, release]), held],
    ['unseen', crateOf([yanked(first), yanked(second), release]), held],
    ['long ago', crateOf([first], ...quiet, [yanked(first), late]), held],
    ['not held', crateOf([first], [yanked(first), release]), policy()],
  ]
  for (const [what, crate, applied] of rows) {
    const hold = what === 'good' ? { ...applied, allow: rules('foo@1.1') } : applied
    assert.equal(lureOf(crate, hold, at(120)), null, what)
  }
})

test('around a lure, what was yanked long ago, has vanished, is denied or was held does not count', () => {
  const good = line('1.1.0', OLD)
  const [early, gone, refused] = [line('1.0.0', OLD), line('0.9.0', OLD), line('0.8.0', OLD)]
  const young = (version: string, pubtime: string) => line(version, { pubtime })
  const first = young('1.2.0', '2026-08-05T00:30:00Z')
  const second = young('1.2.1', '2026-08-05T01:30:00Z')
  const yanked = (each: UpstreamLine) => withYanked(each, true)
  const quiet = Array.from({ length: 95 }, () => [yanked(early), good, gone, refused])
  const crate = crateOf(
    ...[[early, good, gone, refused], ...quiet, [yanked(early), good, gone, refused, first]],
    [yanked(early), yanked(good), refused, yanked(first), second],
  )
  const applied = policy({ hold: 7 * DAY, lureGuard: true, deny: rules('foo@<0.9') })
  assert.deepEqual(lureOf(crate, applied, at(98)), {
    name: 'foo',
    version: '1.2.1',
    yanked: new Set(['1.1.0']),
  })
  const states = [...crate.lines.values()].map(
    each => verdictOf(crate, each, applied, at(98)).state,
  )
  assert.deepEqual(states, ['yanked', 'guarded', 'denied', 'yanked', 'held', 'gone'])
})

test('each value of deny_advisories denies what those before it deny; what is allowed wins', () => {
  const kinds = [null, 'unsound', 'unmaintained', 'notice']
  const known = kinds.map((kind, at) => hole(`RUSTSEC-2026-000${at}`, kind))
  const crate = crateOf([line('1.0.0'), line('2.0.0')])
  for (const [step, denies] of DENIED_KINDS.entries())
    for (const [which, advisory] of known.entries()) {
      const advisories = { denies, known: [advisory] }
      const isDenied = which <= step - 2
      const shown = explainCrate('up', crate, policy({ advisories }), at(0))
      const rule = `upstream.up.deny_advisories: ${advisory.id}`
      assert.deepEqual(
        shown.map(each => [each.state, each.rule, each.mayAllow, each.advisories.length]),
        [
          isDenied ? ['denied', rule, true, 1] : ['shown', null, false, 1],
          ['shown', null, false, 0],
        ],
      )
      const allowed = [policy({ advisories, allowed: new Set([line('1.0.0').version]) })]
      allowed.push(policy({ advisories, allow: rules('foo') }))
      for (const each of allowed)
        assert.equal(verdictOf(crate, line('1.0.0'), each, at(0)).state, 'shown')
    }
  const both = policy({ advisories: { denies: 'vulnerable', known }, deny: rules('foo') })
  assert.equal(verdictOf(crate, line('1.0.0'), both, at(0)).rule, 'deny: foo')
})
