import { quotedText } from '../error/catalog.ts'
import { type Issue, issue } from '../error/error.ts'
import type { IssuerKind, IssuerSettings } from '../settings/issuer.ts'
import { type Claims, claimValues, foldCase, plainName } from './claims.ts'
import type { Job } from './job.ts'
import { KINDS, textOf } from './kinds.ts'
import { differences, type Wanted } from './rule.ts'

/** In the order in which crates.io compares them: ids, workflow, environment, and all else. */
const stageOf = (claim: string) =>
  /_id$/.test(claim) ? 0 : claim === 'workflow' ? 1 : claim === 'environment' ? 2 : 3

/**
 * Returns why no rule lets a token through. Names only rules that are about the very owner of the
 * token: what others have is theirs.
 */
export function refusalOf(
  kind: IssuerKind,
  rules: readonly (Wanted & { readonly id: number })[],
  claims: Claims,
): Issue {
  const own = rules.filter(rule => isAbout(kind, rule, claims))
  const compared = own.map(rule =>
    differences(kind, rule, claims)
      .map(found => ({ ...found, rule: rule.id, stage: stageOf(found.claim) }))
      .sort((a, b) => a.stage - b.stage),
  )
  // Those that come furthest say best what has to change.
  const far = Math.max(...compared.map(([first]) => first?.stage ?? 0))
  const furthest = compared.filter(([first]) => first?.stage === far).flat()
  const [noun, name] = subjectOf(kind, claims)
  const [first] = furthest
  if (first) {
    const same = furthest.filter(({ claim }) => claim === first.claim)
    const wanted = [...new Set(same.flatMap(each => each.wanted))]
    return issue('rule_differs', { ...first, wanted, noun, name, kind })
  }
  if (kind === 'github' || kind === 'gitlab') return issue('rule_none', { repository: name })
  return issue('rule_none_other', { subject: textOf(claims, 'sub') })
}

/** Returns what a job belongs to: the word for it, and its name. */
export function subjectOf(kind: IssuerKind, claims: Claims): [noun: string, name: string] {
  const { noun, owners } = KINDS[kind]
  const [name] = owners.flatMap(owner => claimValues(claims, owner))
  return name === undefined ? ['subject', textOf(claims, 'sub')] : [noun, name]
}

/** Whether the narrowest owner that a rule names is that of the token. */
function isAbout(kind: IssuerKind, { claims: wanted }: Wanted, claims: Claims): boolean {
  const [claim, values = []] =
    KINDS[kind].owners.flatMap(owner => wanted.filter(([name]) => plainName(name) === owner))[0] ??
    []
  const was = claim === undefined ? [] : claimValues(claims, claim)
  return was.some(value => values.some(each => foldCase(each) === foldCase(value)))
}

const MAX = 255

/** Returns what is kept of a token: its texts are those of strangers, in one short line each. */
export function jobOf(
  { kind, issuer }: Pick<IssuerSettings, 'kind' | 'issuer'>,
  claims: Claims,
): Job {
  const { run, commit } = KINDS[kind]
  const text = (value: string | undefined) => (value ? quotedText(value.slice(0, MAX)) : null)
  const [noun, name] = subjectOf(kind, claims)
  return {
    kind,
    issuer,
    subject: text(textOf(claims, 'sub')) ?? '',
    repository: noun === 'subject' ? null : text(name),
    run: text(claimValues(claims, run)[0]),
    commit: text(claimValues(claims, commit)[0]),
  }
}
