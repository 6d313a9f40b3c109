import * as v from 'valibot'

/** A string; null when it is absent. */
const text = v.nullish(v.string(), null)
const texts = v.nullish(v.array(v.string()), () => [])
const flag = (absent: boolean) => v.nullish(v.boolean(), absent)

/** One dependency of the publish metadata (specification A.4; what Cargo adds to it). */
const publishDependency = v.object({
  /** The real name; the rename is in `explicit_name_in_toml`. */
  name: v.string(),
  version_req: v.string(),
  features: texts,
  optional: flag(false),
  default_features: flag(true),
  target: text,
  kind: v.nullish(v.picklist(['normal', 'build', 'dev']), 'normal'),
  /** Index URL; null means the registry to which Cargo publishes. */
  registry: text,
  explicit_name_in_toml: text,
  artifact: v.nullish(v.array(v.string()), null),
  bindep_target: text,
  lib: flag(false),
})

/** The JSON of a publish request (specification A.4); only `name` and `vers` are required. */
export const publishMetadata = v.object({
  name: v.string(),
  vers: v.string(),
  deps: v.nullish(v.array(publishDependency), () => []),
  features: v.nullish(mapOf(v.array(v.string())), () => ({})),
  authors: texts,
  description: text,
  documentation: text,
  homepage: text,
  readme: text,
  readme_file: text,
  keywords: texts,
  categories: texts,
  license: text,
  license_file: text,
  repository: text,
  badges: v.nullish(mapOf(mapOf(v.nullish(v.string(), null))), () => ({})),
  links: text,
  rust_version: text,
})

export type PublishDependency = v.InferOutput<typeof publishDependency>
export type PublishMetadata = v.InferOutput<typeof publishMetadata>

/** An object with any keys: `v.record` skips `constructor`, which is a valid feature name. */
function mapOf<S extends v.GenericSchema>(values: S) {
  return v.pipe(
    v.custom<Record<string, unknown>>(isObject, 'Invalid type: Expected Object'),
    v.rawTransform(({ dataset, addIssue, NEVER }): Record<string, v.InferOutput<S>> => {
      const entries: [string, v.InferOutput<S>][] = []
      for (const [key, value] of Object.entries(dataset.value)) {
        const result = v.safeParse(values, value)
        if (!result.success) {
          for (const one of result.issues)
            addIssue({ message: `${JSON.stringify(key)}: ${one.message}` })
          return NEVER
        }
        entries.push([key, result.output])
      }
      return Object.fromEntries(entries)
    }),
  )
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
