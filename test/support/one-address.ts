import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Cargo } from './cargo.ts'
import type { Cleanup } from './cleanup.ts'
import { expectCode } from './command.ts'
import { buildCrate } from './crate-builder.ts'
import { MadeUpUpstream } from './made-up-upstream.ts'
import { root } from './plimsoll.ts'
import { plimsollHere } from './program.ts'
import { writeProject } from './project.ts'

/** A static tree with one own crate, and an upstream for all others. */
export interface StaticSite {
  readonly tree: string
  readonly url: string
  readonly made: MadeUpUpstream
}

/** Returns the code of a language in a document, with the upstream in the place of crates.io. */
export function blockFor(
  { made }: Pick<StaticSite, 'made'>,
  file: string,
  language: string,
): string {
  const text = readFileSync(join(root, 'docs', file), 'utf8')
  const block = new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text)?.[1]
  assert.ok(block, `${file} has no ${language}`)
  return block
    .replaceAll('https://index.crates.io/', `${made}/index/`)
    .replaceAll('https://static.crates.io/crates/', `${made}/files/`)
}

/** Makes the tree of a static registry that will be served at an address, and its upstream. */
export async function makeSite(cleanup: Cleanup, folder: string, url: string): Promise<StaticSite> {
  const made = await MadeUpUpstream.start(cleanup)
  made.publish({ name: 'public-0', deps: { 'public-1': '1', abc: '1' } })
  made.publish({ name: 'public-1', version: '1.0.0+build.1' })
  made.publish({ name: 'abc' })
  const [crates, tree] = [join(folder, 'crates'), join(folder, 'public')]
  mkdirSync(crates)
  const ours = { name: 'ours', version: '1.0.0', manifest: '[dependencies]\npublic-1 = "1"' }
  const files = { 'src/lib.rs': '' }
  writeFileSync(join(crates, 'ours-1.0.0.crate'), buildCrate({ ...ours, files }))
  const args = ['build', '--from', crates, '--out', tree, '--base-url', url]
  expectCode('build', await plimsollHere(args), 0)
  return { tree, url, made }
}

/**
 * Has real Cargo build own crates and those of the upstream through the one address of a static
 * host, and looks at what the host redirects. `knowsFolders`: whether a missing file of an own
 * crate stays here.
 */
export async function playOneAddress(
  folder: string,
  { url, made }: StaticSite,
  { status, knowsFolders }: { readonly status: number; readonly knowsFolders: boolean },
): Promise<void> {
  const team = `sparse+${url}/index/`
  let homes = 0
  const cargo = (cratesIo: string) =>
    new Cargo(join(folder, `home-${homes++}`), { registries: { team }, cratesIo })
  const app = (name: string) =>
    writeProject(join(folder, name), {
      name,
      toml: '[dependencies]\npublic-0 = "1"\nours = { version = "1", registry = "team" }',
    }).folder
  const lock = (name: string) => readFileSync(join(folder, name, 'Cargo.lock'), 'utf8')
  await cargo(made.index).ok(app('direct'), 'generate-lockfile')
  await cargo(team).ok(app('app'), 'check')
  assert.equal(lock('app').replaceAll('"app"', '"direct"'), lock('direct'))
  await cargo(team).ok(join(folder, 'app'), 'fetch', '--locked')

  const answer = async (path: string) => {
    const { status, headers } = await fetch(url + path, { redirect: 'manual' })
    return [status, headers.get('location')]
  }
  const nowhere = [404, null]
  assert.deepEqual(await answer('/index/no/ne/none'), [status, `${made}/index/no/ne/none`])
  const plus = '/none/none-1.0.0+b.1.crate'
  assert.deepEqual(await answer(`/crates${plus}`), [status, `${made}/files${plus}`])
  assert.deepEqual(await answer('/index/ac/me/acme-new'), nowhere)
  assert.deepEqual(await answer('/crates/none/'), nowhere)
  assert.equal((await answer('/index/config.json'))[0], 200)
  for (const path of ['/crates/acme-new/acme-new-1.0.0.crate', '/crates/ours/ours-2.0.0.crate'])
    if (knowsFolders) assert.deepEqual(await answer(path), nowhere, path)
  assert.deepEqual(
    made.requests.all.filter(({ url }) => /ours|acme/.test(url)),
    [],
    'an own name arrived at the upstream',
  )
}
