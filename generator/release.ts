export type { About } from './manifest.ts'
export { compareMetadata } from './release/compare.ts'
export { CRATES_IO, describe, indexUrlKey, placeKey, toEntryDependency } from './release/dependency.ts'
export { type Inspection, type InspectParts, inspectCrate } from './release/inspect.ts'
export { makeRelease, type Release, type ReleaseParts } from './release/make.ts'
export {
  type PublishDependency,
  type PublishMetadata,
  parsePublishMetadata,
  publishMetadata,
} from './release/metadata.ts'
export { findReadme, findTargets } from './release/targets.ts'
