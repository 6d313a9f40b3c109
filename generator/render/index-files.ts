import type { Name } from '../../core/name.ts'
import type { Output } from '../../core/output.ts'
import { configPlace, indexPlace } from '../../core/paths.ts'
import type { RegistryUrls } from '../../core/urls.ts'

/** `config.json`: `dl`, `api` when there is one, `auth-required` when true, and nothing else (specification A.1). */
export function renderConfig(urls: RegistryUrls, authRequired: boolean): Output {
  const config = {
    dl: urls.dl,
    ...(urls.api !== null && { api: urls.api }),
    ...(authRequired && { 'auth-required': true }),
  }
  return { ...configPlace, bytes: Buffer.from(`${JSON.stringify(config)}\n`) }
}

/** The index file of a crate from its lines, each without a line end (specification A.2). */
export function renderIndex(name: Name, lines: readonly string[]): Output {
  return { ...indexPlace(name), bytes: Buffer.from(lines.map(line => `${line}\n`).join('')) }
}
