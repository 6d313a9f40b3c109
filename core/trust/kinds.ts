// core/trust: Which job of a CI system may publish what: claims, rules and their comparison. The
// exchange of tokens calls it; it never verifies a signature.
import type { IssuerKind } from '../settings/issuer.ts'
import { foldCase } from './claims.ts'

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
}

const REPOSITORY: KindFacts = {
  noun: 'repository',
  owners: ['repository', 'repository_id', 'repository_owner', 'repository_owner_id'],
  ids: {
    repository: ['repository_owner_id', 'repository_id'],
    repository_owner: ['repository_owner_id'],
  },
  run: 'run_id',
  commit: 'sha',
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

/** Whether a kind has workflows, and events that start them. */
export function hasWorkflows(kind: IssuerKind): boolean {
  return kind === 'github' || kind === 'forgejo'
}

/** The events that a rule allows which names none. */
export const EVENTS = ['push', 'release', 'workflow_dispatch', 'schedule', 'create']

/** Events whose jobs run the code of strangers with the rights of the repository. */
export const UNSAFE_EVENTS: readonly string[] = ['pull_request_target', 'workflow_run']

const UNSAFE_PIPELINES = ['merge_request_event', 'external_pull_request_event']

type Claims = Readonly<Record<string, unknown>>

/** Returns the event for which nobody may publish, whatever a rule says; null for any other. */
export function unsafeEvent(kind: IssuerKind, claims: Claims): string | null {
  const name = kind === 'gitlab' ? 'pipeline_source' : hasWorkflows(kind) ? 'event_name' : ''
  const event = Object.hasOwn(claims, name) ? String(claims[name]) : ''
  const unsafe = kind === 'gitlab' ? UNSAFE_PIPELINES : UNSAFE_EVENTS
  return unsafe.includes(event) ? event : null
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
