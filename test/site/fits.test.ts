// Mirrors site/crate/fits.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseRequirement, satisfies } from '../../core/requirement.ts'
import { parseVersion } from '../../core/version.ts'
import { fits } from '../../site/crate/fits.ts'

const number = fc.integer({ min: 0, max: 3 })
const operator = fc.constantFrom('', '=', '>', '>=', '<', '<=', '~', '^')
const comparator = fc
  .tuple(operator, fc.array(number, { minLength: 1, maxLength: 3 }))
  .map(([operator, numbers]) => operator + numbers.join('.'))
const wildcard = fc.array(number, { minLength: 1, maxLength: 2 }).map(list => `${list.join('.')}.*`)
const requirement = fc.oneof(
  fc.constant('*'),
  wildcard,
  fc.array(comparator, { minLength: 1, maxLength: 2 }).map(list => list.join(',')),
)
const version = fc
  .tuple(number, number, number, fc.constantFrom('', '', '-rc.1', '+build-1'))
  .map(([major, minor, patch, more]) => `${major}.${minor}.${patch}${more}`)

test('what a page says of a requirement without a pre-release is what Cargo says', () => {
  fc.assert(
    fc.property(requirement, version, (text, number) => {
      const printed = parseRequirement(text)
      assert.equal(fits(printed, number), satisfies(printed, parseVersion(number)), printed)
    }),
    { numRuns: 3000 },
  )
})

test('of a requirement with a pre-release a page says nothing more', () => {
  assert.equal(fits('^1.0.0-rc.2', '2.0.0'), true)
})
