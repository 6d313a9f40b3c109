const TOKENS = /^(?:[\s{}[\],:]|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)*/s
type Shape = Inner & { type?: string; entries?: Record<string, Shape>; options?: Shape[] }
type Inner = { wrapped?: Shape; item?: Shape; value?: Shape }

const isList = ({ wrapped, type = '' }: Shape): boolean =>
  wrapped ? isList(wrapped) : /array|tuple/.test(type)

/** By the names of a schema: all values if it has a list there, else the last; none is inherited. */
export function named(target: string, { entries = {} }: Shape, values: object) {
  const record: Record<string, unknown> = Object.create(null)
  for (const [name, value] of Object.entries(values)) {
    const isName = (key: string) => (target === 'header' ? key.toLowerCase() : key) === name
    const key = Object.keys(entries).find(isName) ?? name
    const list = isList(entries[key] ?? {})
    const all = list && target === 'header' ? String(value).split(/,\s*/) : [value].flat()
    if (list || target !== 'form' || all.at(-1) !== '') record[key] = list ? all : all.at(-1)
  }
  return record
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
function bare(data: unknown, shape: Shape = {}, depth = 512): unknown {
  if (typeof data !== 'object' || data === null) return data
  if (depth === 0) throw new SyntaxError('nested too deep')
  const { type, entries, item, value = item, wrapped, options = wrapped && [wrapped] } = shape
  const fitting = Array.isArray(data) && options?.some(isList) ? options.filter(isList) : options
  if (fitting) return fitting.reduce<unknown>((value, part) => bare(value, part, depth), data)
  for (const [key, inner] of Object.entries(data))
    Reflect.set(data, key, bare(inner, entries?.[key] ?? value, depth - 1))
  if (!entries && type !== 'record') return data
  if (!Array.isArray(data)) return Object.setPrototypeOf(data, null)
  return Object.assign(() => {}, { toJSON: () => data })
}
