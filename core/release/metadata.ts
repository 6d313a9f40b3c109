import * as v from 'valibot'
import { isObject, isTexts } from '../plain-data.ts'

const text = v.nullish(v.string(), null)
const texts = v.nullish(v.array(v.string()), () => [])
const flag = (absent: boolean) => v.nullish(v.boolean(), absent)

/** One dependency of the publish metadata (specification A.4, plus Cargo's additions). */
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
  features: v.nullish(mapOf(isTexts), () => ({})),
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
  badges: v.nullish(mapOf(isBadge), () => ({})),
  links: text,
  rust_version: text,
})

export type PublishDependency = v.InferOutput<typeof publishDependency>
export type PublishMetadata = v.InferOutput<typeof publishMetadata>

function isBadge(value: unknown): value is Readonly<Record<string, string | null>> {
  return (
    isObject(value) && Object.values(value).every(item => item === null || typeof item === 'string')
  )
}

/** Accepts any keys; `v.record` skips `constructor`, which is a valid feature name. */
function mapOf<T>(fits: (value: unknown) => value is T) {
  const isMap = (map: unknown) => isObject(map) && Object.values(map).every(fits)
  return v.pipe(
    v.unknown(),
    v.check(isMap, 'it is no object of such values'),
    v.transform(map => map as Readonly<Record<string, T>>),
  )
}
