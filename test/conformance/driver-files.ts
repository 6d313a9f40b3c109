import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Cargo } from '../support/cargo.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { expectCode } from '../support/command.ts'
import { FileServer, type Validator } from '../support/file-server.ts'
import { plimsollHere } from '../support/program.ts'
import { type Project, packagedFile } from '../support/project.ts'
import { type Driver, type Registry, readsSparse } from './driver.ts'

/**
 * The static way: `.crate` files in a folder, `plimsoll build --from`, and a dumb file server over
 * the result.
 */
export const staticDriver: Driver = {
  name: 'static tree',
  capabilities: ['sparse'],
  unfit: readsSparse,
  // It depends on nothing but the bytes of its crates, and a dumb file server compresses nothing.
  lacks: ['http-gzip', 'line-pubtime-there'],
  start: openStatic,
}

/** A registry folder kept by `plimsoll add` and `plimsoll yank`, without an API. */
export const recordsDriver: Driver = {
  name: 'records, static tree',
  capabilities: ['sparse', 'repository'],
  unfit: readsSparse,
  lacks: ['http-gzip'],
  start: startRecords,
}

/**
 * The tree of a registry folder behind a dumb file server, read as a git repository: by git itself,
 * Cargo cannot.
 */
export const filesGitDriver: Driver = {
  name: 'records, git index as plain files',
  capabilities: ['git', 'repository'],
  unfit: minor =>
    minor < 68
      ? null
      : 'it reads the same tree by the sparse index, and as a repository in scenario 60',
  lacks: ['git-smart', 'git-head'],
  async start(cleanup, folder, settings) {
    const registry = await startRecords(cleanup, folder, settings)
    return {
      ...registry,
      indexUrl: `${registry.baseUrl}/index.git`,
      cargoEnv: { CARGO_NET_GIT_FETCH_WITH_CLI: 'true' },
    }
  },
}

/**
 * A static registry; its tree is an empty folder until the first release, a build of nothing is
 * refused.
 */
export async function openStatic(
  cleanup: Cleanup,
  folder: string,
  settings: NodeJS.ProcessEnv = {},
): Promise<Registry> {
  const [crates, tree] = [join(folder, 'crates'), join(folder, 'public')]
  for (const place of [crates, tree]) mkdirSync(place, { recursive: true })
  const registry = await serveTree(cleanup, tree)
  const yanked: string[] = []
  const build = async () => {
    const toml = `yanked = ${JSON.stringify(yanked)}\n\n[registry]\nbase_url = "${registry.baseUrl}"\n`
    writeFileSync(join(crates, 'plimsoll.toml'), toml)
    await plimsoll(['build', '--from', crates, '--out', tree], settings)
  }
  return {
    ...registry,
    publish: (cargo, projects) =>
      packageProjects(cargo, projects, async files => {
        for (const file of files) copyFileSync(file, join(crates, basename(file)))
        await build()
      }),
    async yank(_cargo, name, version) {
      yanked.push(`${name}@${version}`)
      await build()
    },
  }
}

async function startRecords(
  cleanup: Cleanup,
  folder: string,
  settings: NodeJS.ProcessEnv,
): Promise<Registry> {
  const home = join(folder, 'registry')
  mkdirSync(folder)
  // Any file host will do, also one without ETags.
  const registry = await serveTree(cleanup, join(home, 'public'), 'last-modified')
  const run = (...args: readonly string[]) => plimsoll([...args, '--dir', home], settings)
  await run('init', '--base-url', registry.baseUrl, '--api', 'none')
  return {
    ...registry,
    publish: (cargo, projects) => packageProjects(cargo, projects, files => run('add', ...files)),
    yank: (_cargo, name, version) => run('yank', `${name}@${version}`),
  }
}

async function serveTree(cleanup: Cleanup, tree: string, validator?: Validator) {
  const { url, requests } = await FileServer.start(cleanup, tree, validator)
  return { baseUrl: url, indexUrl: `sparse+${url}/index/`, requests }
}

async function plimsoll(args: readonly string[], settings: NodeJS.ProcessEnv): Promise<void> {
  expectCode(`plimsoll ${args.join(' ')}`, await plimsollHere(args, settings), 0)
}

/**
 * Packages projects in their order and hands the `.crate` files over in the fewest batches, but
 * before a project that may depend on earlier ones, because Cargo resolves packages.
 */
async function packageProjects(
  cargo: Cargo,
  projects: readonly Project[],
  handOver: (files: readonly string[]) => Promise<void>,
): Promise<void> {
  let files: string[] = []
  for (const project of projects) {
    const manifest = readFileSync(join(project.folder, 'Cargo.toml'), 'utf8')
    if (manifest.includes('dependencies') && files.length > 0) {
      await handOver(files)
      files = []
    }
    await cargo.ok(project.folder, 'package', '--no-verify', '--allow-dirty')
    files.push(packagedFile(project))
  }
  await handOver(files)
}
