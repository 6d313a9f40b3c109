import type { Name } from '../../../../core/name-rules.ts'
import { gather } from '../../../../core/tarball/bytes.ts'
import { expandDl } from '../../../../core/urls/download-url.ts'
import type { Version } from '../../../../core/version.ts'

export interface PackagePlace {
  readonly name: string
  readonly version: string
  /** Template of the addresses of packages, and the index file of the crate: relative to `page`. */
  readonly dl: string
  readonly index: string
  readonly page: string
  /** Size of the package by the records, and the maximum number of bytes that it unpacks to. */
  readonly size: number
  readonly unpacked: number
}

/** The result of comparing a package with its index line; `because` is a clause. */
export type Check =
  | { readonly state: 'verified'; readonly cksum: string }
  | { readonly state: 'differs'; readonly cksum: string; readonly wanted: string }
  | { readonly state: 'unchecked'; readonly cksum: string; readonly because: string }

/** Loads a package, compares it with its index line, reports bytes. Errors tell what to do. */
export async function load(
  place: PackagePlace,
  report: (loaded: number) => void,
): Promise<{ readonly bytes: Uint8Array; readonly check: Check }> {
  const line = indexLine(place)
  line.catch(() => undefined)
  const needsSum = place.dl.includes('{sha256-checksum}')
  const cksum = needsSum ? await line.then(entry => entry.cksum ?? '') : ''
  const { name, version, dl, page } = place
  const address = expandDl(dl, { name: name as Name, version: version as Version, cksum })
  const bytes = await loadBytes(new URL(address, page), place, report)
  const sum = await sha256(bytes)
  const { cksum: wanted, because } = await line
  if (wanted === null) return { bytes, check: { state: 'unchecked', cksum: sum, because } }
  const isSame = wanted.toLowerCase() === sum
  return {
    bytes,
    check: isSame ? { state: 'verified', cksum: sum } : { state: 'differs', cksum: sum, wanted },
  }
}

/** Returns the checksum in the index line of a version, or why there is none. */
async function indexLine({
  index,
  page,
  version,
}: PackagePlace): Promise<{ readonly cksum: string | null; readonly because: string }> {
  const missing = (because: string) => ({ cksum: null, because })
  const answer = await fetch(new URL(index, page), { cache: 'no-cache' }).catch(() => null)
  if (answer === null) return missing('the index could not be reached')
  if (!answer.ok) return missing(`the index answered with ${answer.status}`)
  const text = await answer.text().catch(() => '')
  for (const line of text.split('\n')) {
    if (!line.includes(version)) continue
    const { vers, cksum } = parsed(line)
    if (vers === version && typeof cksum === 'string') return { cksum, because: '' }
  }
  return missing('the index has no line of this version')
}

function parsed(line: string): { readonly vers?: unknown; readonly cksum?: unknown } {
  try {
    return Object(JSON.parse(line))
  } catch {
    return {} // a broken line names no version
  }
}

async function loadBytes(
  url: URL,
  { size }: PackagePlace,
  report: (loaded: number) => void,
): Promise<Uint8Array> {
  // Reading is no download; other hosts need no permission for this header.
  const headers = { accept: 'application/gzip;reader=sources, */*' }
  const answer = await fetch(url, { headers }).catch(() => null)
  if (answer === null) throw new Error(unreachable(url))
  if (!answer.ok || answer.body === null)
    throw new Error(`${url.host} answered with ${answer.status} for the package`)
  const reader = answer.body.getReader()
  const pieces = async function* () {
    let bytes = 0
    // More than the records say is another package anyway.
    while (bytes <= size) {
      const { value, done } = await reader.read()
      if (done) return
      bytes += value.length
      report(bytes)
      yield value
    }
    await reader.cancel()
  }
  return gather(pieces())
}

function unreachable(url: URL): string {
  if (url.origin === location.origin) return `the package could not be loaded from ${url.host}`
  return `the package could not be loaded from ${url.host}: either that host cannot be reached, or it does not allow pages of ${location.origin} to read its files, for which it has to answer with the header Access-Control-Allow-Origin: ${location.origin}`
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const sum = isSecureContext
    ? new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as BufferSource))
    : (await import('@noble/hashes/sha2.js')).sha256(bytes)
  return Array.from(sum, byte => byte.toString(16).padStart(2, '0')).join('')
}
