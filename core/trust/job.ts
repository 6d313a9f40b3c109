import { quotedText } from '../error/catalog.ts'
import type { IssuerKind, IssuerSettings } from '../settings/issuer.ts'
import { type Claims, claimValues } from './claims.ts'
import { subjectOf } from './explain.ts'
import { KINDS, textOf } from './kinds.ts'

/** Which job published a version, as the audit log, `crate.json` and pages say it. */
export interface Job {
  readonly kind: IssuerKind
  /** The `iss` of its token. */
  readonly issuer: string
  readonly subject: string
  /** The repository, project, organization or namespace; null for the kind `other`. */
  readonly repository: string | null
  readonly run: string | null
  readonly commit: string | null
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

const GITHUB = 'https://token.actions.githubusercontent.com'

/** Returns crates.io's `trustpub_data` of a version; `oidc` for issuers that crates.io lacks. */
export function trustpubData(origin: Job): Record<string, string | null> {
  const { kind, issuer, subject, repository, run, commit: sha } = origin
  if (kind === 'github' && new URL(issuer).origin === GITHUB)
    return { provider: 'github', repository, run_id: run, sha }
  if (kind === 'gitlab' && issuer === 'https://gitlab.com')
    return { provider: 'gitlab', project_path: repository, job_id: run, sha }
  return { provider: 'oidc', issuer, subject, repository, run_id: run, sha }
}

/** Returns the page of the job, or of its repository, at its own issuer; null where none is known. */
export function jobUrl({ kind, issuer, repository, run }: Job): string | null {
  const { origin } = new URL(issuer)
  const host = kind === 'github' ? (origin === GITHUB ? 'https://github.com' : null) : origin
  const isPath = /^[A-Za-z0-9_][\w.-]*(?:\/[A-Za-z0-9_][\w.-]*)+$/.test(repository ?? '')
  if (host === null || !isPath || !['github', 'gitlab', 'forgejo'].includes(kind)) return null
  const at = kind === 'github' ? '/actions/runs/' : '/-/jobs/'
  const isRun = kind !== 'forgejo' && /^\d{1,20}$/.test(run ?? '')
  return `${host}/${repository}${isRun ? `${at}${run}` : ''}`
}
