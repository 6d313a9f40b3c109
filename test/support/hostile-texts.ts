/** Pieces of Markdown and HTML that begin or end something. */
const PIECES = [
  ...['>', '> ', '- ', '  ', '\n', '\n\n', '* ', '1. ', '*', '_', '**', '__', '~~', '`', '```\n'],
  ...['```rust\n', '~~~', '[', ']', '(', ')', '![', '](', '[^1]', '^[', '[^1]: ', '<', '<a '],
  ...['<b>', '</b>', '<p>', '</p>', '<table>', '<td>', '<!--', '-->', '<?', '<![CDATA[', '&'],
  ...['&#', '\\', 'http://', 'http://a.com/', 'www.', 'a@b.c', 'mailto:', '"', "'", '|', '|-|'],
  ...['---', '===', '# ', 'a', 'aaa_i', 'é', ':', '!', '[!TIP]', '[x] ', '- [ ] ', '=', ' on', '@'],
  ...['//', '<b id=%>', '<a href=%>', '<font %>', '<div>', '</div>', '<ruby>', '<select>', '<svg>'],
  ...['<math>', '<style>', '<template>', '[%]: x\n', '"x', '<li>', '\t', '    ', '{', 'r#"', '/*'],
  ...['<a href="javascript:x">', '<img src=x onerror=x>', '<p style="x" onclick=x>', '<script>x'],
]

/**
 * Texts that repeat a few pieces in one of four ways: wide, deep, one after many of another. The
 * same for the same seed; `%` in a piece becomes another number each time.
 */
export function hostileTexts(count: number, seed = 1, length = 64 * 1024): string[] {
  let state = Math.imul(seed, 2_654_435_761) >>> 0 || 1
  const below = (end: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % end
  }
  const pick = () => PIECES[below(PIECES.length)] ?? ''
  return Array.from({ length: count }, () => {
    const parts = Array.from({ length: 1 + below(5) }, pick)
    const [first = '', ...others] = parts
    const makers = [
      () => repeated(parts.join(''), length),
      () => repeated(parts.join(''), length / 2) + repeated(pick(), length / 2),
      () => repeated(first, length / 2) + repeated(others.join('') || 'a', length / 2),
      () => parts.join('') + repeated(parts.at(-1) ?? '', length),
    ]
    return (makers[below(makers.length)]?.() ?? '').slice(0, length)
  })
}

function repeated(text: string, length: number): string {
  const parts: string[] = []
  for (let size = 0, at = 0; size < length; at++) {
    const part = text.replaceAll('%', at.toString(36))
    parts.push(part)
    size += part.length
  }
  return parts.join('')
}
