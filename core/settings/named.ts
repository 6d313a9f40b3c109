import { issuerRows } from './issuer.ts'
import type { Row, SettingValue } from './kind.ts'
import { oidcRows } from './oidc.ts'
import { upstreamRows } from './upstream.ts'
import { webhookRows } from './webhook.ts'

/** Returns the section of a name that somebody else chose; undefined where there is none. */
export function sectionOf<T>(sections: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(sections, name) ? sections[name] : undefined
}

/** The kinds of sections of which there may be many, each with a name, and their rows. */
export const namedRows: Readonly<Record<string, Readonly<Record<string, Row<SettingValue>>>>> = {
  issuer: issuerRows,
  oidc: oidcRows,
  upstream: upstreamRows,
  webhook: webhookRows,
}

const CRATES_IO_INDEX = 'sparse+https://index.crates.io/'

const KNOWN: ReadonlyMap<string, string> = new Map([
  ['issuer.github.issuer', 'https://token.actions.githubusercontent.com'],
  ['issuer.github.kind', 'github'],
  ['issuer.gitlab.issuer', 'https://gitlab.com'],
  ['issuer.gitlab.kind', 'gitlab'],
  ['upstream.crates-io.index', CRATES_IO_INDEX],
  ['upstream.crates-io.feed', 'https://static.crates.io/rss/crates.xml'],
])

/**
 * Returns the default that a setting has by the name of its section, where others have another one.
 * With another index, `crates-io` is no longer about crates.io, whose feed nobody asks for then.
 */
export function knownDefault(
  key: string,
  values: ReadonlyMap<string, SettingValue> = new Map(),
): string | undefined {
  const index = values.get('upstream.crates-io.index') ?? CRATES_IO_INDEX
  return key.endsWith('.feed') && index !== CRATES_IO_INDEX ? undefined : KNOWN.get(key)
}
