import type { IssuerKind } from '../../core/settings/issuer.ts'

/** The claims of a job that publishes `acme/demo` or the like, by kind of CI. */
export const JOBS: Readonly<Record<IssuerKind, Readonly<Record<string, unknown>>>> = {
  github: {
    sub: 'repo:acme/demo:ref:refs/heads/main',
    repository: 'acme/demo',
    repository_id: '456',
    repository_owner: 'acme',
    repository_owner_id: '123',
    workflow: 'Release',
    workflow_ref: 'acme/demo/.github/workflows/release.yml@refs/heads/main',
    job_workflow_ref: 'acme/shared/.github/workflows/publish.yml@refs/heads/main',
    ref: 'refs/heads/main',
    ref_type: 'branch',
    event_name: 'push',
    run_id: '9001',
    run_attempt: '1',
    sha: 'a'.repeat(40),
  },
  forgejo: {
    sub: 'repo:acme/demo:ref:refs/heads/main',
    repository: 'acme/demo',
    repository_owner: 'acme',
    workflow_ref: 'acme/demo/.forgejo/workflows/release.yml@refs/heads/main',
    ref: 'refs/heads/main',
    event_name: 'push',
    run_id: '12',
    sha: 'b'.repeat(40),
  },
  gitlab: {
    sub: 'project_path:acme/tools/demo:ref_type:branch:ref:main',
    project_path: 'acme/tools/demo',
    project_id: '42',
    namespace_path: 'acme/tools',
    namespace_id: '7',
    ci_config_ref_uri: 'gitlab.com/acme/tools/demo//.gitlab-ci.yml@refs/heads/main',
    ref: 'main',
    ref_type: 'branch',
    ref_protected: 'true',
    pipeline_source: 'push',
    pipeline_id: '77',
    job_id: '1212',
    sha: 'c'.repeat(40),
  },
  buildkite: {
    sub: 'organization:acme:pipeline:demo:ref:refs/heads/main:commit:d:step:publish',
    organization_slug: 'acme',
    pipeline_slug: 'demo',
    build_number: 12,
    build_branch: 'main',
    build_commit: 'd'.repeat(40),
    step_key: 'publish',
    job_id: '0184990a-477b-4fa8-9968-496074483cee',
    jti: undefined,
  },
  kubernetes: {
    sub: 'system:serviceaccount:ci:publisher',
    jti: undefined,
    'kubernetes.io': {
      namespace: 'ci',
      pod: { name: 'publish-1', uid: 'u1' },
      serviceaccount: { name: 'publisher', uid: 'u2' },
    },
  },
  other: { sub: 'job-1', team: 'crates', groups: ['a', 'crates'] },
}

/** A rule that lets the job of its kind through. */
export const RULES: Readonly<Record<IssuerKind, readonly string[]>> = {
  github: ['repository=Acme/Demo', 'workflow=release.yml', 'ref=refs/heads/*'],
  forgejo: ['repository=acme/demo', 'workflow=release.yml', 'ref=refs/heads/main'],
  gitlab: ['project_path=acme/tools/demo', 'ref_protected=true', 'ref=main'],
  buildkite: ['organization_slug=acme', 'pipeline_slug=demo', 'build_branch=main'],
  kubernetes: ['/kubernetes.io/namespace=ci', '/kubernetes.io/serviceaccount/name=publisher'],
  other: ['team=crates', '/groups=crates'],
}
