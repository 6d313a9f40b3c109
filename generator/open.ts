// generator: What a program may do with a registry, without a server. Daemon, commands and library
// call it.
import { followers } from './projections/projections.ts'
import { recordIssuers } from './records/groups.ts'
import { openWith, type Registry, type RegistrySources } from './registry/registry.ts'
import { recordWebhooks, webhooks } from './webhooks/events.ts'

/** Opens a registry folder with everything that is derived from its records; see `openWith`. */
export async function openRegistry(dir: string, sources: RegistrySources): Promise<Registry> {
  const registry = await openWith(dir, { ...sources, followers: [...followers, webhooks] })
  const { database, settings } = registry
  if (sources.reads || sources.forMove) return registry
  await recordWebhooks(database, settings.webhook)
  await recordIssuers(database, settings.oidc)
  return registry
}
