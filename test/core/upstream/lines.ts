// Lines of an upstream for the tests of this folder.
import assert from 'node:assert/strict'
import { parseLine, type UpstreamLine } from '../../../core/upstream/line.ts'

/** Returns a time in August 2026, some hours after its beginning. */
export function at(hour: number): Date {
  return new Date(Date.UTC(2026, 7, 1, hour))
}

/** Returns a line of the crate `foo`; `cksum` is a character of its checksum. */
export function line(
  version: string,
  { cksum = 'a', ...more }: Readonly<Record<string, string | boolean>> = {},
): UpstreamLine {
  const fields = {
    name: 'foo',
    vers: version,
    deps: [],
    cksum: String(cksum).repeat(64),
    features: {},
    yanked: false,
    ...more,
  }
  return parseLine(JSON.stringify(fields)) ?? assert.fail(version)
}
