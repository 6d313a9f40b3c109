import type { Driver } from './driver.ts'
import { startCatalog } from './driver-catalog.ts'

/**
 * The tree of a registry folder behind a dumb file server, read as a git repository: by git itself,
 * Cargo cannot.
 */
export const filesGitDriver: Driver = {
  name: 'catalog, git index as plain files',
  capabilities: ['no-api', 'repository', 'headers'],
  unfit: minor =>
    minor < 68
      ? null
      : 'it reads the same tree by the sparse index, and as a repository in scenario 60',
  async start(cleanup, folder, settings) {
    const registry = await startCatalog(cleanup, folder, settings)
    return {
      ...registry,
      indexUrl: `${registry.baseUrl}/index.git`,
      cargoEnv: { CARGO_NET_GIT_FETCH_WITH_CLI: 'true' },
    }
  },
}
