import { BASE } from './registry.ts'

/** How a test describes a dependency. */
export interface Wish {
  readonly req?: string
  readonly kind?: 'normal' | 'build' | 'dev'
  /** The name it is to go by in the crate. */
  readonly rename?: string
}

/**
 * A dependency on a crate of the test registry: as the packaged manifest says it, and as Cargo says
 * it when publishing.
 */
export function ownDependency(name: string, { req = '^1', kind = 'normal', rename }: Wish = {}) {
  const table = { normal: 'dependencies', build: 'build-dependencies', dev: 'dev-dependencies' }[
    kind
  ]
  const manifest = [
    `[${table}.${rename ?? name}]`,
    `version = "${req}"`,
    `registry-index = "sparse+${BASE}/index/"`,
    ...(rename ? [`package = "${name}"`] : []),
    '',
  ].join('\n')
  const metadata = {
    name,
    version_req: req,
    features: [],
    optional: false,
    default_features: true,
    target: null,
    kind,
    registry: null,
    ...(rename && { explicit_name_in_toml: rename }),
  }
  return { manifest, metadata }
}
