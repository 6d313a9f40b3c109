import * as v from 'valibot'

/** The token of a job, as its CI system signed it. */
export const exchangeBody = v.object({ jwt: v.string() })

/** The two providers whose rules crates.io knows; the sections of the settings are called so. */
export const PROVIDERS = ['github', 'gitlab'] as const
export type Provider = (typeof PROVIDERS)[number]

/** How each calls the claim of the repository, and the parts of a rule. */
export const FIELDS = {
  github: {
    ...{ claim: 'repository', owner: 'repository_owner' },
    ...{ name: 'repository_name', file: 'workflow_filename' },
  },
  gitlab: {
    ...{ claim: 'project_path', owner: 'namespace' },
    ...{ name: 'project', file: 'workflow_filepath' },
  },
} as const

const path = (form: RegExp) => v.pipe(v.string(), v.maxLength(255), v.regex(form))
const place = {
  crate: v.string(),
  environment: v.optional(v.nullable(path(/^(?! )[^'"`,;\\]+(?<! )$/)), null),
}

/** The bodies of `POST`. */
export const configBodies = {
  github: v.object({
    github_config: v.object({
      ...place,
      repository_owner: path(/^[a-zA-Z0-9][a-zA-Z0-9-]*$/),
      repository_name: path(/^[a-zA-Z0-9_.-]+$/),
      workflow_filename: path(/^[^/]+\.ya?ml$/),
    }),
  }),
  gitlab: v.object({
    gitlab_config: v.object({
      ...place,
      namespace: path(/^[a-zA-Z0-9_.-]+(?:\/[a-zA-Z0-9_.-]+)*$/),
      project: path(/^[a-zA-Z0-9_.-]+$/),
      workflow_filepath: path(/^[^/].*\.ya?ml$/),
    }),
  }),
}

/** One of `crate` and `user_id`. */
export const configQuery = v.object({
  crate: v.optional(v.string()),
  user_id: v.optional(v.string()),
  per_page: v.optional(v.string()),
  seek: v.optional(v.string()),
})

/** A body as `FIELDS` has it read. */
export type ConfigBody = Readonly<Record<string, Readonly<Record<string, string | null>>>>

/** The body of `PATCH`. */
export const patchBody = v.object({ crate: v.object({ trustpub_only: v.boolean() }) })
