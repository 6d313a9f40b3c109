import { WriteStream } from 'node:tty'

export type Color = 'dim' | 'red' | 'yellow'

/** Codes of `Select Graphic Rendition` (ECMA-48). */
const CODES: Readonly<Record<Color, number>> = { dim: 2, red: 31, yellow: 33 }

/** Shows a text in a color, or returns it as it is. */
export type Paint = (color: Color, text: string) => string

/**
 * Returns a function that colors the text of a stream: terminals get colors unless `NO_COLOR` is
 * set or `TERM` denies them, other streams only with `FORCE_COLOR`.
 */
export function painter(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Paint {
  const { NO_COLOR, FORCE_COLOR } = env
  const isWanted = FORCE_COLOR ? !NO_COLOR : stream.isTTY === true
  // Node's rules; they need no terminal.
  const hasColors = isWanted && WriteStream.prototype.hasColors(16, env)
  return (color, text) => (hasColors && text !== '' ? `\x1b[${CODES[color]}m${text}\x1b[0m` : text)
}
