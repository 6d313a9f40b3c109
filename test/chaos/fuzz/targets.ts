import { gunzipSync, gzipSync } from 'node:zlib'
import * as v from 'valibot'
import { renderEntry } from '../../../core/entry/entry.ts'
import { parseEntry } from '../../../core/entry/parse.ts'
import { Refusal } from '../../../core/error/error.ts'
import { isIndexUrl } from '../../../core/index-url.ts'
import { parseManifest } from '../../../core/manifest/parse.ts'
import { parseName } from '../../../core/name.ts'
import { indexPath } from '../../../core/paths/tree.ts'
import { inspectCrate } from '../../../core/release/inspect.ts'
import { publishMetadata } from '../../../core/release/metadata.ts'
import { parseRequirement, satisfies } from '../../../core/requirement.ts'
import { parseQuery } from '../../../core/search/words.ts'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { expandDl } from '../../../core/urls/download-url.ts'
import { withoutCredentials } from '../../../core/urls/urls.ts'
import { compareVersions, parseVersion } from '../../../core/version.ts'
import { decodePublish, parseJson } from '../../../daemon/api/publish.ts'
import { decodePath } from '../../../daemon/files/public-files.ts'
import { isKnown } from '../../../daemon/http/answer.ts'
import { ownPath } from '../../../daemon/http/request-body.ts'
import { isToken, parseScopes } from '../../../generator/accounts/tokens.ts'
import { LogReader } from '../../../generator/downloads/log-line.ts'
import { TooComplexError } from '../../../site/readme/bounded-tree.ts'
import { safeLink } from '../../../site/readme/links.ts'
import { buildCrate, buildEvil } from '../../support/crate-builder.ts'
import { encodePublish, plainMetadata } from '../../support/release.ts'
import { ensure } from '../run.ts'
import { PAGE_TARGETS } from './page-targets.ts'
import { SANDBOXED_MS, type Target } from './target.ts'

const LIMITS = {
  unpackedBytes: 1024 ** 2,
  entries: 1000,
  manifestBytes: 65_536,
  readmeBytes: 65_536,
  duplicateManifest: false,
}
const VERSIONS = ['0.0.0', '1.2.3', '1.0.0-alpha.1', '18446744073709551615.0.0'].map(parseVersion)
const ENTRY =
  '{"name":"demo","vers":"1.0.0","deps":[{"name":"a","req":"^1","features":["x"],"optional":true,"default_features":false,"target":"cfg(unix)","kind":"dev","registry":null,"package":"b"}],"cksum":"0000000000000000000000000000000000000000000000000000000000000000","features":{"f":["a/x"]},"features2":{"g":["dep:a"]},"yanked":false,"links":"z","v":2,"rust_version":"1.70","pubtime":"2026-11-20T12:00:00Z"}'
const MANIFEST = `[package]
name = "demo"
version = "1.0.0"
edition = "2021"
license = "MIT OR Apache-2.0"
keywords = ["a"]
rust-version = "1.70"
readme = "README.md"
[dependencies]
a = { version = "^1", optional = true, features = ["x"], package = "b" }
[target.'cfg(unix)'.dev-dependencies.c]
version = "~2"
[features]
default = ["dep:a"]
`
const FRAME = encodePublish(plainMetadata('demo', '1.0.0'), new Uint8Array(64))

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  // In pieces that cut lengths and lines.
  for (let at = 0; at < bytes.length; at += 977) yield bytes.subarray(at, at + 977)
}

async function inspect(bytes: Uint8Array): Promise<void> {
  const parts = { limits: LIMITS, cksum: '0'.repeat(64), size: bytes.length, pubtime: null }
  const { release, issues } = await inspectCrate(() => once(bytes), {
    ...parts,
    ownIndexUrls: new Set(),
  })
  ensure(release || issues.length > 0, 'an archive is neither read nor refused')
  if (!release || issues.some(issue => issue.severity === 'error')) return
  const line = renderEntry(release.entry)
  ensure(renderEntry(parseEntry(line)) === line, `an entry changes when it is read: ${line}`)
}

/** Every target by its name. */
export const TARGETS: Readonly<Record<string, Target>> = {
  name: {
    share: 90,
    seeds: ['demo', 'a', 'Foo_Bar-1', 'nul', 'x'.repeat(64)],
    run: input => {
      const name = parseName(input.toString())
      ensure(/^index\/[\w-]+(?:\/[\w-]+)*$/.test(indexPath(name)), `path ${indexPath(name)}`)
    },
  },
  version: {
    share: 100,
    seeds: ['1.2.3', '0.0.0-alpha.1+b.2', '1.0.0--', '1.0.0+00'],
    run: input => {
      const version = parseVersion(input.toString())
      ensure(compareVersions(version, version) === 0, 'a version differs from itself')
      for (const other of VERSIONS) {
        const [there, back] = [compareVersions(version, other), compareVersions(other, version)]
        ensure(Math.sign(there) === -Math.sign(back), `${version} and ${other} are in no order`)
      }
    },
  },
  requirement: {
    share: 100,
    seeds: ['^1.2.3', '>=1, <2', '*', '1.*', '~0.1', '=1.0.0-rc.1', ' > 1 , <= 3.4'],
    run: input => {
      const requirement = parseRequirement(input.toString())
      for (const version of VERSIONS) satisfies(requirement, version)
    },
  },
  entry: {
    share: 100,
    seeds: [ENTRY, '{"name":"a","vers":"0.1.0","deps":[],"cksum":"","features":{},"yanked":true}'],
    run: input => {
      const line = renderEntry(parseEntry(input.toString()))
      ensure(!line.includes('\n'), 'an entry has two lines')
      ensure(renderEntry(parseEntry(line)) === line, `an entry changes when it is read: ${line}`)
    },
  },
  manifest: {
    share: 80,
    seeds: [MANIFEST, MANIFEST.replace('[features]', '[workspace]\n[features]'), '[package]'],
    run: input => {
      parseManifest(input.toString())
    },
  },
  frame: {
    share: 90,
    seeds: [FRAME, FRAME.subarray(0, 20), new Uint8Array(8)],
    run: async input => {
      const limits = { metadataBytes: 65_536, crateBytes: 65_536 }
      const { metadata, crate } = await decodePublish(once(input), limits)
      let size = 0
      for await (const piece of crate) size += piece.length
      ensure(size <= limits.crateBytes, 'a frame gives more than its limit')
      v.safeParse(publishMetadata, parseJson(metadata))
    },
  },
  archive: {
    share: 25,
    budget: SANDBOXED_MS,
    seeds: [
      buildCrate({ name: 'demo', version: '1.0.0', files: { 'README.md': '# x', 'src/a.rs': '' } }),
      buildEvil('pax size lie'),
      buildEvil('pax path twice'),
      buildEvil('two extended headers'),
      buildEvil('size before a long name'),
      buildEvil('sparse file'),
    ],
    run: inspect,
  },
  tar: {
    share: 35,
    budget: SANDBOXED_MS,
    seeds: (
      ['symlink', 'pax sparse', 'global header', 'name after NUL', 'folder with data'] as const
    )
      .map(trick => gunzipSync(buildEvil(trick)))
      .concat(gunzipSync(buildCrate({ name: 'demo', version: '1.0.0', manifest: 'readme = "r"' }))),
    run: input => inspect(gzipSync(input, { level: 1 })),
  },
  token: {
    share: 60,
    seeds: ['plim_0123456789abcdef', 'publish-new', ''],
    run: input => {
      const text = input.toString()
      ensure(!isToken(text) || /^[\x21-\x7e]+$/.test(text), `a strange token: ${text}`)
      parseScopes(text.split(' '))
    },
  },
  path: {
    share: 110,
    seeds: ['/crates/demo/demo-1.0.0.crate', '/index/de/mo/demo', '/a%2Fb', '/../x', '/%2e%2e/x'],
    run: input => {
      const text = input.toString()
      const path = decodePath(text)
      const parts = path?.split('/') ?? []
      ensure(!parts.some(part => part.startsWith('.') || part.includes('\\')), `path ${path}`)
      ensure(!path?.includes('\0'), `path ${path}`)
      const own = ownPath(text)
      ensure(own === null || new URL(own, 'http://here.test').host === 'here.test', `to ${own}`)
    },
  },
  header: {
    share: 60,
    seeds: [
      ...['"abc", W/"def"', '*', '"', 'https://user:secret@host/x', '//host/x', 'mailto:a@b'],
      // These took seconds once.
      ...['+build'.repeat(20_000), 'a://b:'.repeat(20_000)],
    ],
    run: input => {
      const text = input.toString()
      isKnown(text, 'abc')
      isIndexUrl(text)
      const link = safeLink(text, null, 'pages')
      ensure(!link || /^(?:https?:|mailto:|#)/.test(link), `link ${link}`)
      expandDl(text, {
        name: parseName('demo'),
        version: VERSIONS[1] ?? parseVersion('1.0.0'),
        cksum: '',
      })
      withoutCredentials(text)
      parseQuery(text)
    },
  },
  settings: {
    share: 50,
    seeds: [
      '[server]\nlisten = "127.0.0.1:7878"\n[limits]\ncrate_bytes = "10 MiB"\n[auth]\nrequired = true\n',
      '[git]\nindex = "off"\npush = ["a@b:c"]\n[pages]\ntitle = "x"\n',
    ],
    run: input => {
      resolveSettings({ file: { name: 'plimsoll.toml', text: input.toString() } })
    },
  },
  log: {
    share: 40,
    seeds: [
      '192.0.2.1 - - [21/Nov/2026:10:00:00 +0000] "GET /crates/a/a-1.0.0.crate HTTP/2.0" 200 9\n',
      '{"ts":1763719200.5,"request":{"method":"GET","uri":"/crates/a/a-1.0.0.crate"},"status":200}',
      '#Fields: date time cs-method cs-uri-stem sc-status\n2026-11-21\t10:00:00\tGET\t/a\t200\n',
      // Long beginnings that never become a request.
      '[21/Nov/2026:10:00:00 +0000] "GET '.repeat(3000),
    ],
    run: input => {
      const log = new LogReader('auto')
      for (const line of input.toString().split('\n')) {
        const request = log.read(line)
        if (request === null || request === 'comment') continue
        ensure(Number.isInteger(request.day), `a request on day ${request.day}`)
        ensure(Number.isInteger(request.status), `a request with status ${request.status}`)
      }
    },
  },
  ...PAGE_TARGETS,
}

/** Describes the outcome of an input in a few words: an input with new words is kept. */
export async function outcome(target: Target, input: Buffer): Promise<string> {
  try {
    await target.run(input)
    return `taken ${Math.floor(Math.log2(input.length + 1))}`
  } catch (error) {
    if (error instanceof TooComplexError) return 'too complex'
    if (!(error instanceof Refusal)) throw error
    return [...new Set(error.issues.map(issue => issue.code))].sort().join(' ')
  }
}
