import * as v from 'valibot'
import type { Dependency } from '../../core/entry/entry.ts'

const text = v.nullable(v.string())
const count = v.pipe(v.number(), v.integer(), v.minValue(0))

export const dependencyShape = v.object({
  id: count,
  version_id: count,
  crate_id: v.string(),
  req: v.string(),
  optional: v.boolean(),
  default_features: v.boolean(),
  features: v.array(v.string()),
  target: text,
  kind: v.picklist(['normal', 'build', 'dev']),
  downloads: count,
  /** Index URL of the dependency's registry; null for this registry. */
  registry: text,
  /** The name of the dependency in Cargo.toml, if it is renamed. */
  explicit_name_in_toml: text,
})

export type DependencyShape = v.InferOutput<typeof dependencyShape>

/** Room for the ids of dependency version's dependencies; entries never change, so ids are stable. */
const IDS_PER_VERSION = 65_536

/** Returns the dependencies of a version, in the order of its index line. */
export function dependencyViews(id: number, deps: readonly Dependency[]): DependencyShape[] {
  return deps.map((dependency, at) => ({
    id: id * IDS_PER_VERSION + at,
    version_id: id,
    crate_id: dependency.package ?? dependency.name,
    req: dependency.req,
    optional: dependency.optional,
    default_features: dependency.default_features,
    features: [...dependency.features],
    target: dependency.target,
    kind: dependency.kind,
    downloads: 0,
    registry: dependency.registry,
    explicit_name_in_toml: dependency.package === null ? null : dependency.name,
  }))
}
