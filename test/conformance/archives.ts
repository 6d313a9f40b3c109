import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Member } from '../support/archive.ts'
import { archive } from '../support/archive.ts'
import { packagedFile } from '../support/project.ts'
import { send } from '../support/raw-publish.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

const MANIFEST: Member = {
  name: 'evil-1.0.0/Cargo.toml',
  body: '[package]\nname = "evil"\nversion = "1.0.0"\nedition = "2021"\ndescription = "Evil"\nlicense = "MIT"\n',
}
const LIBRARY: Member = { name: 'evil-1.0.0/src/lib.rs', body: '' }

/** `.crate` bytes that the client would refuse must not get in, and good ones come out as they went in. */
export const archives: readonly Scenario[] = [
  scenario(33, 'registry::bad_cksum_http: bytes are served as they came, without any encoding', [], async stage => {
    const foo = stage.crate({ name: 'foo', files: { 'src/lib.rs': 'pub fn all() {}\n'.repeat(2000) } })
    await stage.registry.publish(stage.cargo(), [foo])
    await stage.cargo().ok(foo.folder, 'package', '--no-verify', '--allow-dirty')
    const path = '/crates/foo/foo-1.0.0.crate'
    const answer = await send('GET', stage.registry.baseUrl, path, { 'accept-encoding': 'deflate, gzip' })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-encoding'], undefined)
    const { cksum } = JSON.parse(await stage.index('3/f/foo')) as { cksum: string }
    assert.equal(createHash('sha256').update(answer.bytes).digest('hex'), cksum)
    assert.ok(answer.bytes.equals(readFileSync(packagedFile(foo))))
  }),

  scenario(33, 'registry::bad_cksum_http: a damaged crate is found out', ['tree'], async stage => {
    await stage.publish({ name: 'foo' })
    const file = join(stage.files.tree, 'crates', 'foo', 'foo-1.0.0.crate')
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(bytes.readUInt8(20) ^ 1, 20, 21))
    const checked = await stage.cargo().fails(stage.app('foo = { version = "1", registry = "test" }'), 'check')
    says(checked, 'failed to verify the checksum of `foo v1.0.0 (registry `test`)`')
  }),

  scenario(
    46,
    'an archive of the smallest kind is taken: the others are refused for their one fault',
    [],
    async stage => {
      assert.equal(await stage.registry.offer('evil', '1.0.0', await archive([MANIFEST, LIBRARY])), null)
      await stage.cargo().ok(stage.app('evil = { version = "1", registry = "test" }'), 'check')
    },
  ),

  refused(46, 'registry::bad_and_or_malicious_packages_rejected_http: a file beside the folder', /other-1\.0\.0/, [
    { name: 'other-1.0.0/src/lib.rs', body: '' },
  ]),

  refused(46, 'a file that climbs out of the folder', /\.\./, [
    { name: 'evil-1.0.0/../evil-2.0.0/src/lib.rs', body: '' },
  ]),

  refused(47, 'registry::symlink_and_directory: a symbolic link', /src\/link\.rs/, [
    { name: 'evil-1.0.0/src/link.rs', type: 'symlink', linkname: '/etc/passwd' },
  ]),

  refused(47, 'package_lock_as_a_symlink_inside_package_is_invalid: a hard link', /Cargo\.lock/, [
    { name: 'evil-1.0.0/Cargo.lock', type: 'link', linkname: 'evil-1.0.0/Cargo.toml' },
  ]),

  refused(48, 'registry::reach_max_unpack_size: more than 512 MiB unpacked', /unpack/, [
    { name: 'evil-1.0.0/zeros', zeros: 513 * 1024 * 1024 },
  ]),
]

/** A crate with one faulty member is refused with words that name the fault; no trace of it is left. */
function refused(number: number, title: string, words: RegExp, members: readonly Member[]): Scenario {
  return scenario(number, title, [], async stage => {
    const bytes = await archive([MANIFEST, LIBRARY, ...members])
    const objection = await stage.registry.offer('evil', '1.0.0', bytes)
    assert.match(objection ?? 'it was taken', words)
    const answer = await send('GET', stage.registry.baseUrl, '/index/ev/il/evil')
    assert.equal(answer.status, 404)
    const tree = stage.registry.files?.tree
    if (tree !== undefined) assert.ok(!readdirSync(tree, { recursive: true }).some(path => /evil/.test(String(path))))
  })
}
