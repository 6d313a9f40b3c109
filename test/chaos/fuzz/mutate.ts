import type { Random } from '../../support/random.ts'

/** Longest input; a repetition may come near it. */
export const INPUT_MAX = 128 * 1024

/** Pieces that many grammars treat specially. */
const PIECES = [
  ...['\0', '\r\n', '\n', '\t', ' ', '"', "'", '\\', '/', '../', '%2F', '%00', '{', '}', '[', ']'],
  ...'()<>&#=,;:*`~^|!$@-',
  ...['0', '1', '18446744073709551616', '-1', '1e309', 'null', 'true', '__proto__', 'constructor'],
  ...['\u202e', '\ufeff', '\ud800', '\u{1f600}', 'ä', 'İ', 'ſ', '\u0000', '\u2028', 'a\u0301'],
  ...['http://', 'javascript:', '<script>', '<svg/onload=', '<!--', ']]>', '&#x6a;', '```', '> - '],
  ...['>=', '^1.2.3', '~0', '=1', '-alpha.1', '+build', '.0', 'x', '||', '[package]', 'git = "x"'],
]

/** Changes an input in one to eight ways; `other` is an input of the same kind. */
export function mutate(input: Buffer, other: Buffer, random: Random): Buffer {
  let bytes = input
  for (let left = random.between(1, random.chance(0.2) ? 8 : 3); left > 0; left--)
    bytes = change(bytes, other, random).subarray(0, INPUT_MAX)
  return bytes
}

function change(bytes: Buffer, other: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1)
  const end = Math.min(
    bytes.length,
    at + 1 + random.below(random.chance(0.8) ? 16 : bytes.length + 1),
  )
  const put = (middle: Uint8Array, from = at, to = at) =>
    Buffer.concat([bytes.subarray(0, from), middle, bytes.subarray(to)])
  switch (random.below(9)) {
    case 0:
      return put(Buffer.from(random.pick(PIECES)))
    case 1:
      return put(Buffer.from(random.pick(PIECES)), at, end)
    case 2:
      return put(Buffer.alloc(0), at, end)
    case 3:
      return put(bytes.subarray(at, end))
    case 4: {
      const piece = random.chance(0.5) ? bytes.subarray(at, end) : Buffer.from(random.pick(PIECES))
      const most = random.chance(0.05) ? INPUT_MAX : 64
      const times = Math.max(1, Math.floor(random.below(most) / Math.max(1, piece.length)))
      return put(Buffer.concat(Array<Buffer>(times).fill(piece)))
    }
    case 5: {
      const from = random.below(other.length + 1)
      return put(other.subarray(from, from + random.below(other.length - from + 1)))
    }
    case 6:
      return put(random.bytes(random.between(1, 4)), at, Math.min(bytes.length, at + 4))
    case 7: {
      if (bytes.length === 0) return random.bytes(1)
      const copy = Buffer.from(bytes)
      const place = random.below(copy.length)
      copy[place] = (copy[place] ?? 0) ^ (1 << random.below(8))
      return copy
    }
    default:
      return other.length > 0 && random.chance(0.3) ? other : put(bytes.subarray(end), end)
  }
}
