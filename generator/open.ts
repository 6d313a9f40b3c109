// generator: What a program may do with a registry, without a server. Daemon, commands and library
// call it.
import { followers } from './projections/projections.ts'
import { openWith, type Registry, type RegistrySources } from './registry/registry.ts'

/** Opens a registry folder with everything that is derived from its records; see `openWith`. */
export function openRegistry(dir: string, sources: RegistrySources): Promise<Registry> {
  return openWith(dir, { ...sources, followers })
}
