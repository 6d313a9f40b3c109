/** What browsers call themselves, those first that also call themselves what comes after. */
const BROWSERS = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['Version', 'Safari'],
] as const

/** Browser and system from a `User-Agent`, as people call them; otherwise its first word. */
export function browserName(agent: string): string {
  const system = /\b(Windows|Android|iPhone|iPad|Mac OS X|CrOS|Linux)\b/.exec(agent)?.[1]
  for (const [token, name] of BROWSERS) {
    const version = new RegExp(`\\b${token}/([0-9]+)`).exec(agent)?.[1]
    if (version) return `${name} ${version}${system ? ` on ${system}` : ''}`
  }
  const word = /^[a-z][\w.-]{0,30}/i.exec(agent)?.[0] ?? 'Mozilla'
  return word === 'Mozilla' ? 'unknown browser' : word
}
