const TOKENS = /^(?:[\s{}[\],:]|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)*/s
type Shape = { type?: string; wrapped?: Shape; item?: Shape; entries?: Record<string, Shape> }

/** Whether a schema is a list's, with a default or without. */
export const isList = ({ wrapped, type = '' }: Shape): boolean =>
  wrapped ? isList(wrapped) : /array|tuple/.test(type)

/** By the names of a schema: all values if it has a list there, else the last; none is inherited. */
export function named(target: string, { entries = {} }: Shape, values: object) {
  const given: Record<string, unknown> = Object.create(null)
  for (const [name, value] of Object.entries(values)) {
    const isName = (key: string) => (target === 'header' ? key.toLowerCase() : key) === name
    const [key, part] = Object.entries(entries).find(([key]) => isName(key)) ?? [name, {}]
    const list = isList(part)
    const all = list && target === 'header' ? String(value).split(/,\s*/) : [value].flat()
    if (list || target !== 'form' || all.at(-1) !== '') given[key] = list ? all : all.at(-1)
  }
  return given
}

/** Reads a body as JSON, or as text if it is of another type; none at all is undefined. */
export function readJson(type: string, bytes: ArrayBuffer, schema: Shape) {
  const isJson = /^application\/([\w.-]*\+)?json\s*(;|$)/i.test(type)
  let text = ''
  try {
    text = new TextDecoder('utf-8', { fatal: isJson, ignoreBOM: !isJson }).decode(bytes)
    const value = isJson && text ? bare(JSON.parse(text), schema) : text || undefined
    return { value, abortEarly: text.split(/[,[{]/, 1002).length > 1001 }
  } catch (error) {
    const place = Number(/position (\d+)/.exec(String(error))?.[1] ?? text.length)
    const at = Math.min(place, TOKENS.exec(text)?.[0].length ?? place)
    const [loc, ctx] = [['body', [...text.slice(0, at)].length], { error: String(error) }]
    return { problem: { type: 'json_invalid', loc, msg: 'JSON decode error', input: {}, ctx } }
  }
}

/** Data in which no name of a schema is inherited, and no list passes for an object. */
function bare(value: unknown, { wrapped, item, entries }: Shape = {}, depth = 512): unknown {
  if (wrapped) return bare(value, wrapped, depth)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) throw new SyntaxError('nested too deep')
  const own = (key: string) => (Object.hasOwn(entries ?? {}, key) ? entries?.[key] : item)
  for (const name in entries)
    if (name in value && !Object.hasOwn(value, name)) Object.setPrototypeOf(value, null)
  for (const [key, item] of Object.entries(value))
    Reflect.set(value, key, bare(item, own(key), depth - 1))
  return entries && Array.isArray(value) ? Object.assign(() => {}, { toJSON: () => value }) : value
}
