import { isOidcName, OIDC_NAME_FORM, oidcRows } from './oidc.ts'
import { isUpstreamName, UPSTREAM_NAME_FORM, upstreamRows } from './upstream.ts'

/** The sections of which there may be several, each with a name of its own. */
export const namedSections = {
  oidc: { rows: oidcRows, isName: isOidcName, form: OIDC_NAME_FORM },
  upstream: { rows: upstreamRows, isName: isUpstreamName, form: UPSTREAM_NAME_FORM },
} as const

export type NamedSection = keyof typeof namedSections

/** Whether a word begins the names of such sections, as in `[upstream.NAME]`. */
export function isNamedSection(word: string): word is NamedSection {
  return Object.hasOwn(namedSections, word)
}
