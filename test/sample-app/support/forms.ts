/** One part of a multipart body. Without `filename` it is text. */
export interface Part {
  readonly name: string
  readonly value?: string
  readonly filename?: string
  readonly contentType?: string
  readonly content?: string
  readonly contentRepeat?: { readonly char: string; readonly count: number }
}

export const BOUNDARY = '----boundary7MA4YWxkTrZu0gW'

/** The media type of a body made by `multipart`. */
export const MULTIPART = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` }

/** The media type of a body made by `urlencoded`. */
export const URLENCODED = { 'Content-Type': 'application/x-www-form-urlencoded' }

/** Writes a multipart body the way browsers do. */
export function multipart(parts: readonly Part[]): string {
  const written = parts.map(({ name, value, filename, contentType, content, contentRepeat }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`
    const type = contentType === undefined ? '' : `\r\nContent-Type: ${contentType}`
    const data = value ?? content ?? contentRepeat?.char.repeat(contentRepeat.count) ?? ''
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}${type}\r\n\r\n${data}\r\n`
  })
  return `${written.join('')}--${BOUNDARY}--\r\n`
}

/** Writes an urlencoded body. */
export function urlencoded(form: Readonly<Record<string, string>>): string {
  return new URLSearchParams(form).toString()
}
