export { parseManifest } from './manifest/parse.ts'
export type { About, Manifest, ManifestDependency, TargetHints } from './manifest/shape.ts'
