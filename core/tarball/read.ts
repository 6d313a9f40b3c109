// core/tarball: Reads `.crate` files of strangers within bounds. Releases and pages call it; it
// never writes to a disk.
import * as v from 'valibot'
import { collect, type Issue, issue, refusalOnly, warning } from '../error/error.ts'
import { type Name, parseName } from '../name.ts'
import { isStorable } from '../text.ts'
import { isVersion, type Version } from '../version.ts'
import { decodeUtf8, gather } from './bytes.ts'
import { type Contents, ContentsCount } from './contents.ts'
import { walkGzip } from './gzip.ts'
import { PathBook } from './paths.ts'
import { ISSUES_MAX, type Member } from './walk.ts'

/** Maximum size of `.cargo_vcs_info.json`; Cargo writes about 100 bytes. */
const VCS_INFO_MAX = 16 * 1024

/** Names that are `Cargo.toml` on some systems; Windows ignores a dot or space at the end. */
const MANIFEST = /^cargo(?:\.toml|~[0-9]\.tom)[. ]*$/i

export type Open = () => AsyncIterable<Uint8Array>
export type Identity = { readonly name: Name; readonly version: Version }

export interface ArchiveLimits {
  /** Maximum bytes of the unpacked tar stream, including headers and padding. */
  readonly unpackedBytes: number
  readonly entries: number
  readonly manifestBytes: number
  readonly readmeBytes: number
  /** Whether a second `Cargo.toml` with the same bytes is accepted. */
  readonly duplicateManifest?: boolean
}

export interface ArchiveFile {
  readonly path: string
  readonly size: number
}

/** The contents of a `.crate`, without the bytes of its files. */
export interface Archive extends Identity {
  readonly manifest: string
  readonly files: readonly ArchiveFile[]
  readonly contents: Contents
  /** `path_in_vcs`: the crate's folder in its repository, `''` for the root; null if unknown. */
  readonly vcsPath: string | null
}

/**
 * Reads a `.crate` once, as a stream: only the manifest and the list of paths are in memory.
 * Reports anything but a gzipped tar of regular files and folders below `{name}-{version}/` with
 * exactly one `Cargo.toml`, within `limits`, of the `expected` release. The rules are those of
 * Cargo and crates.io, and stricter where two readers could see two different archives. Returns no
 * archive if the manifest is missing or the crate is unknown.
 */
export async function surveyArchive(
  open: Open,
  limits: ArchiveLimits,
  expected?: Identity,
): Promise<{ readonly archive: Archive | null; readonly issues: Issue[] }> {
  const survey = new Survey(limits, expected)
  try {
    await walkGzip(open(), limits.unpackedBytes, survey.issues, (member, read) =>
      survey.visit(member, read),
    )
  } catch (error) {
    survey.issues.push(...refusalOnly(error).issues)
  }
  return { archive: survey.conclude(), issues: survey.issues }
}

class Survey {
  readonly issues: Issue[] = []
  readonly #limits: ArchiveLimits
  readonly #book = new PathBook()
  readonly #files: ArchiveFile[] = []
  readonly #contents = new ContentsCount()
  readonly #manifests: string[] = []
  #identity: Identity | undefined
  #root: string | null
  #manifest: string | null = null
  #vcsPath: string | null = null
  #members = 0
  #warnings = 0
  #strayKind: Member['kind'] = 'folder'

  constructor(limits: ArchiveLimits, expected?: Identity) {
    this.#limits = limits
    this.#identity = expected
    this.#root = expected ? `${expected.name}-${expected.version}` : null
  }

  async visit(member: Member, read: Open): Promise<'go on' | 'stop'> {
    if (Math.max(++this.#members, this.#book.size) > this.#limits.entries) {
      this.issues.push(issue('archive_too_many_entries', { max: this.#limits.entries }))
      return 'stop'
    }
    const path = this.#belowRoot(member)
    if (path === 'Cargo.toml' && member.kind === 'file' && this.#manifests.includes(path)) {
      await this.#readAgain(member, read)
    } else if (path !== null && path !== '') {
      this.#report(...this.#book.add(path, member.kind === 'folder' ? 'folder' : 'file'))
      if (member.kind === 'file') {
        this.#files.push({ path, size: member.size })
        await this.#read(path, member.size, read)
        await this.#contents.add({ path, size: member.size }, read)
      }
    }
    return this.issues.filter(problem => problem.severity === 'error').length < ISSUES_MAX
      ? 'go on'
      : 'stop'
  }

  /** Adds issues, but only the first warnings: a crate can have as many as files. */
  #report(...issues: readonly Issue[]): void {
    for (const problem of issues)
      if (problem.severity === 'error' || ++this.#warnings <= ISSUES_MAX) this.issues.push(problem)
  }

  /** Returns the archive, if its crate is known and it has exactly one manifest. */
  conclude(): Archive | null {
    const [first, ...others] = this.#manifests
    const more = this.#warnings - ISSUES_MAX
    if (more > 0) this.issues.push(warning('archive_warnings_more', { count: more }))
    const broken = this.issues.some(problem => problem.severity === 'error')
    if (others.length > 0)
      this.issues.push(issue('archive_manifests', { paths: this.#manifests.join('`, `') }))
    else if (first !== undefined && first !== 'Cargo.toml')
      this.issues.push(issue('archive_manifest_case', { path: first }))
    else if (first === undefined && !broken) this.issues.push(issue('archive_manifest_missing'))
    const isClear = others.length === 0 && first === 'Cargo.toml'
    if (!this.#identity || this.#manifest === null || !isClear) return null
    return {
      ...this.#identity,
      manifest: this.#manifest,
      files: this.#files,
      contents: this.#contents.contents,
      vcsPath: this.#vcsPath,
    }
  }

  /** Returns the path below the top folder, `''` for the top folder itself; null after an error. */
  #belowRoot(member: Member): string | null {
    const full =
      member.kind === 'folder' && member.path.endsWith('/') ? member.path.slice(0, -1) : member.path
    const problems = PathBook.issues(full)
    if (problems.length > 0) {
      this.issues.push(...problems)
      return null
    }
    const end = full.indexOf('/')
    const top = end === -1 ? full : full.slice(0, end)
    this.#root ??= this.#identify(top)
    if (top !== this.#root || (end === -1 && member.kind === 'file')) {
      this.#reportRoot(full, member.kind)
      return null
    }
    return end === -1 ? '' : full.slice(end + 1)
  }

  /** Reports one member per archive, preferably a file, because often all members are wrong. */
  #reportRoot(path: string, kind: Member['kind']): void {
    const at = this.issues.findIndex(problem => problem.code === 'archive_root')
    const error = issue('archive_root', { path, root: this.#root ?? '{name}-{version}' })
    if (at === -1) this.issues.push(error)
    else if (kind === 'file' && this.#strayKind !== 'file') this.issues[at] = error
    else return
    this.#strayKind = kind
  }

  /** Splits the top folder: names have no dots, so the version follows the last `-` before one. */
  #identify(top: string): string | null {
    const split = top.lastIndexOf('-', top.indexOf('.'))
    const name = top.slice(0, Math.max(split, 0))
    const version = top.slice(split + 1)
    if (name === '' || !isVersion(version)) return null
    const checked = collect(this.issues, () => parseName(name))
    if (checked) this.#identity = { name: checked, version }
    return top
  }

  async #read(path: string, size: number, read: Open): Promise<void> {
    if (path.split('/').pop() === '.cargo-ok') this.#report(warning('archive_cargo_ok', { path }))
    if (MANIFEST.test(path)) {
      this.#manifests.push(path)
      const max = this.#limits.manifestBytes
      if (size > max) this.issues.push(issue('archive_file_too_large', { path, size, max }))
      else this.#manifest = decodeUtf8(await gather(read()))
      if (size <= max && this.#manifest === null)
        this.issues.push(issue('archive_file_encoding', { path }))
    } else if (path === '.cargo_vcs_info.json' && size <= VCS_INFO_MAX) {
      this.#vcsPath = vcsPath(await gather(read()))
    }
  }

  /** Checks a second `Cargo.toml` (Cargo before 2016): it would win, so both must be equal. */
  async #readAgain(member: Member, read: Open): Promise<void> {
    const isSame =
      member.size <= this.#limits.manifestBytes &&
      decodeUtf8(await gather(read())) === this.#manifest
    if (!isSame) this.issues.push(issue('archive_path_twice', { path: 'Cargo.toml' }))
    else if (!this.#limits.duplicateManifest) this.issues.push(issue('archive_manifest_twice'))
  }
}

const VCS_INFO = v.pipe(v.string(), v.parseJson(), v.object({ path_in_vcs: v.string() }))

/** Returns `path_in_vcs`; null if it is not a plain path, because links contain it. */
function vcsPath(bytes: Uint8Array): string | null {
  const result = v.safeParse(VCS_INFO, decodeUtf8(bytes))
  if (!result.success) return null
  const path = result.output.path_in_vcs
  return path === '' || (isStorable(path) && PathBook.issues(path).length === 0) ? path : null
}
