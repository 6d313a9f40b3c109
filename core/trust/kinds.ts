// core/trust: Which job of a CI system may publish what: claims, rules and their comparison. The
// exchange of tokens calls it; it never verifies a signature.
import { type Issue, issue } from '../error/error.ts'
import type { IssuerKind } from '../settings/issuer.ts'
import { type Claims, foldCase } from './claims.ts'

/** What is known of the claims of a kind of CI systems. */
export interface KindFacts {
  /** The word for what a job belongs to. */
  readonly noun: string
  /** The claims that say to whom a job belongs, the narrowest first. */
  readonly owners: readonly string[]
  /** The ids that are pinned for a name, which somebody else may have one day. */
  readonly ids: Readonly<Record<string, readonly string[]>>
  readonly run: string
  readonly commit: string
  /** Which claims name the repository, its form, the file of the job, and what has started it. */
  readonly job?: Readonly<Record<'path' | 'workflow' | 'event', string>> & {
    readonly form: RegExp
    readonly unsafe: readonly string[]
  }
}

/** Events whose jobs run the code of strangers with the rights of the repository. */
export const UNSAFE_EVENTS: readonly string[] = ['pull_request_target', 'workflow_run']

const REPOSITORY: KindFacts = {
  noun: 'repository',
  owners: ['repository', 'repository_id', 'repository_owner', 'repository_owner_id'],
  ids: {
    repository: ['repository_owner_id', 'repository_id'],
    repository_owner: ['repository_owner_id'],
  },
  run: 'run_id',
  commit: 'sha',
  job: {
    ...{ path: 'repository', workflow: 'workflow_ref', event: 'event_name' },
    form: /^[^/]+\/[^/]+$/,
    unsafe: UNSAFE_EVENTS,
  },
}

export const KINDS: Readonly<Record<IssuerKind, KindFacts>> = {
  github: REPOSITORY,
  forgejo: REPOSITORY,
  gitlab: {
    noun: 'repository',
    owners: ['project_path', 'project_id', 'namespace_path', 'namespace_id'],
    ids: { project_path: ['namespace_id', 'project_id'], namespace_path: ['namespace_id'] },
    run: 'job_id',
    commit: 'sha',
    job: {
      ...{ path: 'project_path', workflow: 'ci_config_ref_uri', event: 'pipeline_source' },
      form: /[^/]\/[^/]/,
      unsafe: ['merge_request_event', 'external_pull_request_event'],
    },
  },
  buildkite: {
    noun: 'organization',
    owners: ['organization_slug', 'organization_id'],
    ids: { organization_slug: ['organization_id'] },
    run: 'job_id',
    commit: 'build_commit',
  },
  kubernetes: {
    noun: 'namespace',
    owners: ['/kubernetes.io/namespace'],
    ids: {},
    run: '/kubernetes.io/pod/name',
    commit: '',
  },
  other: { noun: 'subject', owners: [], ids: {}, run: '', commit: '' },
}

/** The events that a rule allows which names none. */
export const EVENTS = ['push', 'release', 'workflow_dispatch', 'schedule', 'create']

/** Returns why a token can be good for no rule, whatever it says; null if it can. */
export function unfitFor(kind: IssuerKind, claims: Claims): Issue | null {
  const { job } = KINDS[kind]
  if (!job) return null
  const event = String(Object.hasOwn(claims, job.event) ? claims[job.event] : '')
  if (job.unsafe.includes(event)) return issue('event_unsafe', { event })
  if (!job.form.test(textOf(claims, job.path)))
    return issue('claim_unexpected', { claim: job.path })
  return workflowOf(kind, claims) ? null : issue('claim_unexpected', { claim: job.workflow })
}

const WORKFLOW = /^([^/@]+\/[^/@]+)\/\.(?:github|forgejo|gitea)\/workflows\/([^/@]+\.ya?ml)@[^\n]+$/

/**
 * Returns the file of the workflow that was started, never that of one it calls. Null where the
 * claim cannot be read, or names a workflow of another repository.
 */
export function workflowOf(kind: IssuerKind, claims: Claims): string | null {
  if (kind === 'gitlab') {
    const uri = textOf(claims, 'ci_config_ref_uri')
    const [start, end] = [uri.indexOf('//'), uri.lastIndexOf('@')]
    const path = start < 0 || end < start ? '' : uri.slice(start + 2, end)
    return /\.ya?ml$/.test(path) ? path : null
  }
  const [, repository = '', file] = WORKFLOW.exec(textOf(claims, 'workflow_ref')) ?? []
  const isOwn = foldCase(repository) === foldCase(textOf(claims, 'repository'))
  return file !== undefined && isOwn ? file : null
}

/** Returns a claim that is a text; empty for any other. */
export function textOf(claims: Claims, name: string): string {
  const value = Object.hasOwn(claims, name) ? claims[name] : ''
  return typeof value === 'string' ? value : ''
}
