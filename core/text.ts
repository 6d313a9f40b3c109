/** Whether all stores keep a text: PostgreSQL refuses U+0000, and UTF-8 has no half surrogates. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Cs}/u.test(text)
}

/** A place in plain data: a key or an index, and where the object or array is that has it. */
interface Place {
  readonly within: Place | null
  readonly step: string | number
}

/** Returns up to `max` places in plain data that are not storable, as `a.b[0]`, at any depth. */
export function unstorablePlaces(data: object, max: number): string[] {
  const places: string[] = []
  const waiting: { readonly value: unknown; readonly place: Place | null }[] = [
    { value: data, place: null },
  ]
  for (let next = waiting.pop(); next && places.length < max; next = waiting.pop()) {
    const { value, place } = next
    if (typeof value === 'object' && value !== null) {
      const isList = Array.isArray(value)
      for (const [key, child] of Object.entries(value).reverse())
        waiting.push({ value: child, place: { within: place, step: isList ? Number(key) : key } })
    }
    const key = typeof place?.step === 'string' ? place.step : ''
    const isText = typeof value === 'string'
    if (!isStorable(key) || (isText && !isStorable(value))) places.push(written(place))
  }
  return places
}

function written(place: Place | null): string {
  const steps: string[] = []
  for (let at = place; at; at = at.within)
    steps.push(typeof at.step === 'number' ? `[${at.step}]` : at.within ? `.${at.step}` : at.step)
  return steps.reverse().join('')
}

/** Returns whether a text has invisible characters that change the direction of what is around. */
export function hasBidiControls(text: string): boolean {
  return /\p{Bidi_Control}/u.test(text)
}

/** Isolates a text with such characters by others (UAX #9), so that what follows keeps its order. */
export function isolated(text: string): string {
  if (!hasBidiControls(text)) return text
  const open = text.replaceAll('\u2069', '')
  const inner = open.match(/[\u2066-\u2068]/g)?.length ?? 0
  return `\u2068${open}${'\u2069'.repeat(inner + 1)}`
}
