import * as v from 'valibot'
import { type Dependency, parseEntry, type ReleaseRecord } from '../../../generator/index.ts'

const count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** A dependency in the shape of crates.io, plus its registry and its rename. */
export const dependencyShape = v.object({
  id: count,
  version_id: count,
  crate_id: v.string(),
  req: v.string(),
  optional: v.boolean(),
  default_features: v.boolean(),
  features: v.array(v.string()),
  target: v.nullable(v.string()),
  kind: v.picklist(['normal', 'build', 'dev']),
  downloads: count,
  /** Index URL of the registry it comes from; null for this one. */
  registry: v.nullable(v.string()),
  /** The name it goes by in the crate, when that is another. */
  explicit_name_in_toml: v.nullable(v.string()),
})

export type DependencyShape = v.InferOutput<typeof dependencyShape>

/** Room for the ids of one version's dependencies; entries never change, so ids are stable. */
const IDS_PER_VERSION = 65_536

/** The dependencies of a version, in the order of its index line. */
export function dependencyViews(release: Pick<ReleaseRecord, 'id' | 'line'>): DependencyShape[] {
  return parseEntry(release.line).deps.map((one, at) => dependencyView(release.id, one, at))
}

function dependencyView(versionId: number, one: Dependency, at: number): DependencyShape {
  return {
    id: versionId * IDS_PER_VERSION + at,
    version_id: versionId,
    crate_id: one.package ?? one.name,
    req: one.req,
    optional: one.optional,
    default_features: one.default_features,
    features: [...one.features],
    target: one.target,
    kind: one.kind,
    downloads: 0,
    registry: one.registry,
    explicit_name_in_toml: one.package === null ? null : one.name,
  }
}
