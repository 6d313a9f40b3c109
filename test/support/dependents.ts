import { parseName } from '../../core/name.ts'
import { parseVersion } from '../../core/version.ts'
import { build } from '../../generator/pages/build.ts'
import { buildPages } from '../../generator/pages/pages.ts'
import { deleteReleases } from '../../generator/registry/changes/delete.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { filesBelow } from './folder.ts'
import { ownDependency } from './release.ts'
import { OPERATOR } from './workplace.ts'

/** The manifest of a crate that requires one of this registry. */
export const onOwn = (name: string, req: string) =>
  ownDependency(name, { req, index: 'sparse+https://crates.example/index/' }).manifest

/** The files that say what requires each crate. */
export const dependentsFiles = ({ tree }: Registry) =>
  filesBelow(tree.root).filter(path => /^dependents\/.*json$/.test(path))

/** Renders all that is marked. */
export async function render(registry: Registry): Promise<void> {
  await build(registry)
  await buildPages(registry)
}

/** Deletes a version for good. */
export async function remove(registry: Registry, crate: string, version: string): Promise<void> {
  const wanted = { name: parseName(crate), version: parseVersion(version), force: true }
  await deleteReleases(registry, wanted, OPERATOR)
}
