import type { Context } from 'hono'

const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i
const TOKENS = /^(?:[\s{}[\],:]|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)*/s
type Shape = { type?: string; wrapped?: Shape; item?: Shape; entries?: Record<string, Shape> }

/** Whether a schema is that of a list, with a default or without. */
export function isList({ wrapped, type = '' }: Shape): boolean {
  return wrapped ? isList(wrapped) : /array|tuple/.test(type)
}

/** By the names of a schema: all values if it has a list there, else the last; none is inherited. */
export function named(target: string, { entries = {} }: Shape, values: object) {
  const given: Record<string, unknown> = Object.create(null)
  for (const [name, value] of Object.entries(values)) {
    const isName = (key: string) => (target === 'header' ? key.toLowerCase() : key) === name
    const [key, part] = Object.entries(entries).find(([key]) => isName(key)) ?? [name, {}]
    const list = isList(part)
    // Fetch joins the values of a header. A field of a form that was left empty counts as absent.
    const all = list && target === 'header' ? String(value).split(/,\s*/) : [value].flat()
    if (list || target !== 'form' || all.at(-1) !== '') given[key] = list ? all : all.at(-1)
  }
  return given
}

/** Reads a body as JSON, or as text if it is of another type; none at all is undefined. */
export async function readJson({ req }: Context, schema: Shape) {
  const isJson = JSON_TYPE.test(req.header('Content-Type') ?? '')
  const bytes = await req.arrayBuffer()
  let text = ''
  try {
    text = new TextDecoder('utf-8', { fatal: isJson, ignoreBOM: !isJson }).decode(bytes)
    // Of a thousand values and more, the first problem has to do: each costs memory.
    const abortEarly = (text.match(/[,[{]/g)?.length ?? 0) > 1000
    if (bytes.byteLength === 0) return {}
    return { value: isJson ? bare(JSON.parse(text), schema) : text, abortEarly }
  } catch (error) {
    const { message } = error as Error
    // Engines tell the place in their own ways, or not at all.
    const place = Number(/position (\d+)/.exec(message)?.[1] ?? text.length)
    const at = Math.min(place, TOKENS.exec(text)?.[0].length ?? place)
    const loc = ['body', [...text.slice(0, at)].length]
    const ctx = { error: message }
    return { problem: { type: 'json_invalid', loc, msg: 'JSON decode error', input: {}, ctx } }
  }
}

/** Data in which no name of a schema is inherited, and no list passes for an object. */
function bare(value: unknown, schema: Shape = {}, depth = 512): unknown {
  if (schema.wrapped) return bare(value, schema.wrapped, depth)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) throw new SyntaxError('nested too deep')
  const isList = Array.isArray(value)
  const names = isList ? {} : (schema.entries ?? {})
  for (const name in names)
    if (name in value && !Object.hasOwn(value, name)) Object.setPrototypeOf(value, null)
  for (const [key, one] of Object.entries(value)) {
    const part = isList ? schema.item : Object.hasOwn(names, key) ? names[key] : undefined
    const kept = bare(one, part, depth - 1)
    if (kept !== one) Reflect.set(value, key, kept)
  }
  return isList && schema.entries ? Object.assign(() => {}, { toJSON: () => value }) : value
}
