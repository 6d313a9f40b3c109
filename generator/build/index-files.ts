import type { Name } from '../../core/name.ts'
import { type Output, output } from '../../core/output.ts'
import { configPath, indexPath } from '../../core/paths/index-files.ts'
import type { RegistryUrls } from '../../core/urls.ts'

/** `config.json`: `dl`, `api` if any, `auth-required` if true, nothing else (specification A.1). */
export function renderConfig(urls: RegistryUrls, authRequired: boolean): Output {
  const config = {
    dl: urls.dl,
    ...(urls.api !== null && { api: urls.api }),
    ...(authRequired && { 'auth-required': true }),
  }
  return output(configPath, `${JSON.stringify(config)}\n`)
}

/** The index file of a crate from its lines, each without a line end (specification A.2). */
export function renderIndex(name: Name, lines: readonly string[]): Output {
  return output(indexPath(name), lines.map(line => `${line}\n`).join(''))
}
