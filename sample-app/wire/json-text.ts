/**
 * Writes JSON like `JSON.stringify`, with one addition: a bigint is written as the number it is, so an integer beyond
 * 2^53 comes back digit for digit.
 */
export function toJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${toJson(member)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}
