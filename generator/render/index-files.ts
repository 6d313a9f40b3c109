import type { Name } from '../name.ts'
import { configPlace, indexPlace, type Output } from '../paths.ts'
import type { RegistryUrls } from '../urls.ts'

const encoder = new TextEncoder()

/** `config.json`: `dl`, `api` when there is one, `auth-required` when true, and nothing else (specification A.1). */
export function renderConfig(urls: RegistryUrls, authRequired: boolean): Output {
  const config = {
    dl: urls.dl,
    ...(urls.api !== null && { api: urls.api }),
    ...(authRequired && { 'auth-required': true }),
  }
  return { ...configPlace, bytes: encoder.encode(`${JSON.stringify(config)}\n`) }
}

/** The index file of a crate from its lines, each without a line end (specification A.2). */
export function renderIndex(name: Name, lines: readonly string[]): Output {
  return { ...indexPlace(name), bytes: encoder.encode(lines.map(line => `${line}\n`).join('')) }
}
