/** Longest piece of someone's text that a message repeats. */
const LONGEST = 80

/**
 * Someone's text as a message repeats it: clipped, and without characters that would steer a terminal or hide others
 * (controls, line breaks, direction marks).
 */
export function quotation(text: string): string {
  const clipped = text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
  return clipped.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu,
    character => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}
