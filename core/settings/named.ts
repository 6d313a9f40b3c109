import { issuerDefault, issuerRows } from './issuer.ts'
import type { Row, SettingValue } from './kind.ts'
import { oidcRows } from './oidc.ts'
import { upstreamDefault, upstreamRows } from './upstream.ts'
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

/** Returns the default of a setting of `[KIND.NAME]`; that of an upstream may follow its index. */
export function namedDefault(
  kind: string,
  name: string,
  key: string,
  index?: SettingValue,
): SettingValue {
  if (kind === 'issuer') return issuerDefault(name, key)
  if (kind === 'upstream') return upstreamDefault(name, key, index)
  return namedRows[kind]?.[key]?.private ?? null
}
