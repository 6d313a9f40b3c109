import type { IssuerKind } from '../settings/issuer.ts'

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
