import { configPath, type Output, output } from '../../../core/paths/tree.ts'
import type { RegistryUrls } from '../../../core/urls/urls.ts'

/** Renders `config.json`: `dl`, `api` if any, `auth-required` if true (specification A.1). */
export function renderConfig(urls: RegistryUrls, authRequired: boolean): Output {
  const config = {
    dl: urls.dl,
    ...(urls.api !== null && { api: urls.api }),
    ...(authRequired && { 'auth-required': true }),
  }
  return output(configPath, `${JSON.stringify(config)}\n`)
}
