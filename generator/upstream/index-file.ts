import { isUtf8 } from 'node:buffer'
import type { Name } from '../../core/name.ts'
import type { LEFT_OUT, SeenFile, UpstreamCrate } from '../../core/upstream/crate.ts'
import { parseLine, type UpstreamLine } from '../../core/upstream/line.ts'
import { type Version, versionIdentity } from '../../core/version.ts'
import { paced } from '../database/pace.ts'
import type { WebAnswer } from '../web/web.ts'

/** An index file, and of what kinds the lines are that were left out of it. */
export type IndexFile = SeenFile & { readonly leftOut: ReadonlySet<(typeof LEFT_OUT)[number]> }

const LINES_MAX = 100_000

/**
 * Reads the answer for an index file: the lines that Cargo can use, of this crate, each version
 * once, the one of `held` if that has it. Returns what is wrong with a file that is none.
 */
export async function readIndexFile(
  answer: WebAnswer,
  name: Name,
  held: UpstreamCrate | null,
): Promise<IndexFile | string> {
  const before = [...(held?.lines.values() ?? [])]
  const byText = new Map(before.map(line => [line.text, line]))
  // The version that is shown where several differ only in build metadata: the first one seen.
  const shown = new Map(before.reverse().map(({ version }) => [versionIdentity(version), version]))
  const lines = new Map<Version, UpstreamLine>()
  const leftOut = new Set<(typeof LEFT_OUT)[number]>()
  const isText = isUtf8(answer.bytes)
  const all = answer.bytes.toString(isText ? 'utf8' : 'latin1')
  const texts = answer.status === 404 ? [] : all.split('\n', LINES_MAX + 1)
  if (texts.length > LINES_MAX) return 'too many lines'
  for (const raw of texts) {
    if (raw.trim() === '') continue
    const text = isText ? raw : utf8Of(raw)
    if (text === null) leftOut.add('encoding')
    // A copy, because a piece of the text would keep all of it in memory.
    const parse = () => (text === null ? null : parseLine(Buffer.from(text).toString()))
    const line = byText.get(text ?? '') ?? (await paced(parse))
    if (line === null && raw === texts.at(-1)) return 'a file that ends within a line'
    if (line === null) continue
    const identity = versionIdentity(line.version)
    const first = shown.get(identity) ?? line.version
    if (line.name.toLowerCase() !== name) leftOut.add('foreign')
    else if (first !== line.version || lines.has(line.version)) leftOut.add('duplicate')
    else {
      shown.set(identity, first)
      lines.set(first, line)
    }
  }
  if (answer.status === 200 && lines.size === 0) return 'no line of this crate'
  const { etag, lastModified } = answer
  return { etag, lastModified, lines: [...lines.values()], leftOut }
}

/** Reads bytes that were read as Latin-1, each a character, as UTF-8; null if they are not. */
function utf8Of(text: string): string | null {
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : null
}
