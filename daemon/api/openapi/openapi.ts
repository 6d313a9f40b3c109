import type { Registry } from '../../../generator/index.ts'
import type { OpenHandler, Route } from '../../access/route.ts'
import { answer } from '../../http/answer.ts'
import { openApiDocument } from './document.ts'

/** `GET /api/openapi.json`: OpenAPI 3.1, from the route table and the schemas of the handlers. */
export function openApi({ settings, urls }: Registry, routes: () => readonly Route[]): OpenHandler {
  let document: object | null = null
  return c => {
    const facts = { title: settings.registry.title, server: urls.api ?? urls.base }
    document ??= openApiDocument(facts, routes())
    return answer(c, document)
  }
}
