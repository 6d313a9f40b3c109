import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type CheckRun, readToken } from './probes.ts'
import { untried, wrong } from './verdict.ts'

/** The longest that a Cargo may take: it waits for a minute for what it published. */
const TIMEOUT_MS = 120_000
/** The first Cargo that reads a sparse index. */
const SPARSE = 68

/** Returns the version of a Cargo, such as `1.95.0`; null if it cannot be run. */
export async function cargoVersion(path: string, env: CheckRun['env']) {
  const running = promisify(execFile)(path, ['--version'], { env: { ...env } })
  const said = await running.then(({ stdout }) => stdout).catch(() => '')
  return /^cargo (\d+\.\d+\.\d+)/.exec(said)?.[1] ?? null
}

/** The second number of a version of Rust. */
export function minor(version: string): number {
  return Number(version.split('.')[1])
}

/** Runs Cargo, and returns what it says; wrong, with the error that it prints, if it fails. */
export type CargoRun = (...args: readonly string[]) => Promise<string>

/**
 * Makes a home for the Cargo of a run, with the registry as `check`, and a crate in whose folder it
 * runs; its manifest goes on with `toml`.
 */
export async function openCargo(run: CheckRun, name: string, toml: string): Promise<CargoRun> {
  const { target, cargo, scratch, token } = run
  if (target.kind === 'folder') untried('Cargo reads no index in a folder')
  if (target.kind === 'http' && minor(cargo?.version ?? '') < SPARSE)
    untried('this Cargo reads no sparse index')
  await readToken(run)
  const folder = await mkdtemp(join(scratch, 'cargo-'))
  const about = `name = "${name}"\nversion = "1.0.0"\nedition = "2021"\nlicense = "MIT"`
  const files = {
    'home/config.toml': `[registries.check]\nindex = "${target.name}"\n`,
    'crate/Cargo.toml': `[package]\n${about}\ndescription = "By plimsoll check"\n${toml}`,
    'crate/src/main.rs': 'fn main() {}',
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  const plain = Object.entries(run.env).filter(
    ([key]) => !/^CARGO_(?!HTTP_CAINFO|NET_GIT_FETCH_WITH_CLI)/.test(key),
  )
  const env = {
    ...Object.fromEntries(plain),
    // Its rustc lies beside it.
    PATH: [dirname(cargo?.path ?? ''), run.env.PATH].join(delimiter),
    CARGO_HOME: join(folder, 'home'),
    CARGO_TARGET_DIR: join(folder, 'target'),
    CARGO_TERM_COLOR: 'never',
    CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS: 'cargo:token',
    ...(token !== null && { CARGO_REGISTRIES_CHECK_TOKEN: token }),
  }
  return async (...args) => {
    const options = { cwd: join(folder, 'crate'), env, timeout: TIMEOUT_MS }
    const running = promisify(execFile)(cargo?.path ?? '', args, options)
    running.child.stdin?.end(`${token ?? ''}\n`)
    const ended = await running.catch((error: { stdout: string; stderr: string }) => {
      const said = error.stdout + error.stderr
      const words = said
        .slice(said.indexOf('error'))
        .trim()
        .replaceAll(/\s*\n\s*/g, ' / ')
      return wrong(`cargo ${args[0]}: ${words}`, 600)
    })
    return ended.stdout + ended.stderr
  }
}
