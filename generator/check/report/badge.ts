import { isBroken, type Result } from '../run.ts'

const LABEL = 'cargo registry'
/** Pixels of a character of 11 pixels in DejaVu Sans, more or less. */
const CHARACTER = 6.6

/** Returns an image with how many of the tried statements hold: green, yellow, or red if it breaks. */
export function badge(results: readonly Result[]): string {
  const tried = results.filter(({ status }) => status !== 'untried')
  const held = tried.filter(({ status }) => status === 'pass').length
  const color = isBroken(results) ? '#c33' : held < tried.length ? '#a80' : '#383'
  const text = `${held} of ${tried.length}`
  const [left, right] = [LABEL, text].map(words => Math.ceil(words.length * CHARACTER) + 12)
  const [a = 0, b = 0] = [left, right]
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${a + b}" height="20" role="img">
<title>${LABEL}: ${text} statements hold</title>
<rect width="${a}" height="20" fill="#444"/><rect x="${a}" width="${b}" height="20" fill="${color}"/>
<g fill="#fff" font-family="DejaVu Sans,Verdana,sans-serif" font-size="11" text-anchor="middle">
<text x="${a / 2}" y="14">${LABEL}</text><text x="${a + b / 2}" y="14">${text}</text></g>
</svg>
`
}
