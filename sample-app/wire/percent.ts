const ESCAPE = 0x25
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Undoes percent-encoding exactly once. Escapes become bytes and bytes become UTF-8 text: a malformed escape (`%zz`)
 * stays as it is, a byte that is not UTF-8 (`%ff`) becomes U+FFFD.
 * @param text as it was on the wire, one character per byte (Latin-1, as Node hands it over)
 */
export function decodePercent(text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  let end = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const escaped = bytes[at] === ESCAPE ? hexPair(bytes[at + 1], bytes[at + 2]) : undefined
    bytes[end] = escaped ?? bytes[at] ?? 0
    end += 1
    if (escaped !== undefined) at += 2
  }
  return decoder.decode(bytes.subarray(0, end))
}

/** The same for `application/x-www-form-urlencoded` text, where `+` is a space. */
export function decodeForm(text: string): string {
  return decodePercent(text.replaceAll('+', ' '))
}

function hexPair(high = -1, low = -1): number | undefined {
  const [first, second] = [hexDigit(high), hexDigit(low)]
  return first === undefined || second === undefined ? undefined : first * 16 + second
}

function hexDigit(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : undefined
}
