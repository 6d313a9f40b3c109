import { buildPages } from '../../generator/pages/pages.ts'
import type { Registry } from '../../generator/registry/registry.ts'

/** Derives and renders the search files of all changes so far, and nothing else. */
export async function renderSearch(registry: Registry): Promise<void> {
  const { issues } = await buildPages(registry, { kinds: ['search'] })
  if (issues.length > 0) throw new Error(JSON.stringify(issues))
}
