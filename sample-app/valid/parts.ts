import type { Context } from 'hono'
import type { Problem } from './problem.ts'

type Shape = { readonly type?: string; readonly wrapped?: Shape; readonly entries?: object }

/** Whether a schema is that of a list, with a default or without. */
export function isList({ wrapped, type = '' }: Shape): boolean {
  return wrapped ? isList(wrapped) : /array|tuple/.test(type)
}

/** By the names of a schema: all values if it has a list there, else the last; none is inherited. */
export function named(target: string, { entries = {} }: Shape, values: object) {
  const given: Record<string, unknown> = Object.create(null)
  const isHeader = target === 'header'
  for (const [name, value] of Object.entries(values)) {
    const found = Object.entries(entries).find(
      ([key]) => (isHeader ? key.toLowerCase() : key) === name,
    )
    const [key, part] = found ?? [name, {}]
    const list = isList(part)
    // Fetch joins the values of a header. A field of a form that was left empty counts as absent.
    const all = list && isHeader ? String(value).split(/,\s*/) : [value].flat()
    if (list || target !== 'form' || all.at(-1) !== '') given[key] = list ? all : all.at(-1)
  }
  return given
}

/** Reads a body as JSON, or as text if it is of another type; none at all is undefined. */
export async function readJson({ req }: Context): Promise<{ value?: unknown; problem?: Problem }> {
  const text = await req.text()
  const isJson = /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(req.header('Content-Type') ?? '')
  try {
    return text && isJson ? { value: bare(JSON.parse(text)) } : { value: text || undefined }
  } catch (error) {
    const { message } = error as SyntaxError
    const loc = ['body', Number(/position (\d+)/.exec(message)?.[1] ?? text.length)]
    const ctx = { error: message }
    return { problem: { type: 'json_invalid', loc, msg: 'JSON decode error', input: {}, ctx } }
  }
}

/** Without prototypes, so that no name is inherited; deeper nesting would cost stack elsewhere. */
function bare(value: unknown, depth = 512): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) throw new SyntaxError('nested too deep')
  if (!Array.isArray(value)) Object.setPrototypeOf(value, null)
  for (const one of Object.values(value)) bare(one, depth - 1)
  return value
}
