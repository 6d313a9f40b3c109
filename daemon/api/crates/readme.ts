import { type Registry, readReadme, refuse } from '../../../generator/index.ts'
import type { OpenHandler } from '../../access/route.ts'
import { answerText } from '../../http/answer.ts'
import { foundVersion } from './found.ts'

/**
 * `GET /api/v1/crates/{name}/{version}/readme`: the README as packaged, always as plain text, so
 * that it never runs under the registry's address.
 */
export function readme(registry: Registry): OpenHandler {
  return async c => {
    const { card, release } = await foundVersion(registry, c)
    const text = await readReadme(registry.database, release.id)
    if (text === null)
      return refuse('readme_unknown', { name: card.name, version: release.version })
    return answerText(c, text, 'text/plain; charset=utf-8')
  }
}
