import pLimit from 'p-limit'
import type { CheckedImage } from '../sandbox/image-task.ts'
import { checkImage } from '../sandbox/rendering.ts'
import { type DownloadRules, download, ImageProblem, TOO_SLOW } from './download.ts'

/** The most downloads at a time, and from one host. */
const AT_ONCE = 8
const PER_HOST = 2

/** A download that failed: why, and whether trying again is pointless. */
export interface FailedImage {
  readonly problem: string
  readonly isFinal: boolean
}

/** Downloads an image and checks it. */
export async function fetchImage(
  source: string,
  rules: DownloadRules,
  abort?: AbortSignal,
): Promise<CheckedImage | FailedImage> {
  try {
    const check = await checkImage(await download(source, rules, abort))
    return 'problem' in check ? { problem: check.problem, isFinal: true } : check
  } catch (error) {
    if (!(error instanceof ImageProblem) || abort?.aborted) throw error
    return { problem: error.message, isFinal: error.isFinal }
  }
}

/**
 * Runs downloads, a few at a time and fewer from one host. A host that is too slow once is not
 * asked for the rest, so that one README cannot keep all others waiting.
 */
export async function fetchAll<Result extends object>(
  sources: readonly string[],
  fetch: (source: string) => Promise<Result | FailedImage>,
): Promise<Map<string, Result | FailedImage>> {
  const all = pLimit(AT_ONCE)
  const hosts = new Map<string, ReturnType<typeof pLimit>>()
  const slow = new Set<string>()
  const jobs = sources.map(async source => {
    const { host } = new URL(source)
    const limit = hosts.get(host) ?? pLimit(PER_HOST)
    hosts.set(host, limit)
    const ask = async () => {
      if (slow.has(host)) return { problem: TOO_SLOW, isFinal: false }
      const result = await all(() => fetch(source))
      if ('problem' in result && result.problem === TOO_SLOW) slow.add(host)
      return result
    }
    return [source, await limit(ask)] as const
  })
  return new Map(await Promise.all(jobs))
}
