/** A header value such as `form-data; name="file"; filename="a.txt"`, taken apart. */
export interface HeaderValue {
  /** What stands before the first semicolon, in lower case. */
  readonly value: string
  /** Parameter names are in lower case; the last of a name wins. `filename*` is a name of its own. */
  readonly parameters: ReadonlyMap<string, string>
}

const PARAMETER = /\s*([^\s=;"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*)))?[^;]*|[^;]+/gsy

/**
 * Takes a header value apart. Quoted values have `\"` and `\\` undone and nothing else, so `%22` and directories stay as
 * they were sent; unquoted values are accepted, a quote without its other half is a character, a bare name has the value
 * `""`.
 */
export function parseHeaderValue(header: string): HeaderValue {
  const semicolon = header.indexOf(';')
  if (semicolon === -1) return { value: header.trim().toLowerCase(), parameters: new Map() }
  const parameters = new Map<string, string>()
  let at = semicolon + 1
  while (at < header.length) {
    PARAMETER.lastIndex = at
    const found = PARAMETER.exec(header)
    const [whole = '', name, quoted, plain] = found ?? []
    if (name !== undefined)
      parameters.set(name.toLowerCase(), quoted?.replace(/\\(["\\])/g, '$1') ?? plain?.trim() ?? '')
    at += whole.length + 1
  }
  return { value: header.slice(0, semicolon).trim().toLowerCase(), parameters }
}

/** The text of header bytes: UTF-8, or Latin-1 where it is not. */
export function decodeHeader(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return Buffer.from(bytes).toString('latin1')
  }
}
