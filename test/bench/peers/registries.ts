import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { type Made, make } from '../../../check/package.ts'
import { Program } from '../support/program.ts'
import { CACHE } from '../support/registry.ts'

/** A registry that is ready to be asked. */
export interface Ready {
  readonly target: string
  /** Null for one that can only be read. */
  readonly token: string | null
  /** What it has already, where nothing lists that. */
  readonly crates?: readonly string[]
  /** What its documents have users set for Cargo. */
  readonly env?: Readonly<Record<string, string>>
  readonly program: Program
}

/** Another registry, at one version. */
export interface Peer {
  readonly title: string
  readonly version: string
  readonly home: string
  /** Gets it if need be, and starts it with empty data below `dir`. */
  readonly start: (dir: string, port: number) => Promise<Ready>
}

const PEERS = join(CACHE, 'peers')
const PASSWORD = 'plimsoll-check'
/** bcrypt of `PASSWORD`, as `htpasswd` writes it. */
const HTPASSWD = 'check:$2b$04$uFvaJShbDRx3W67ncU7fB.7TOEF7z48nKy.AxFgSyCX3ItC4xkD..\n'

/** The registries, by the name of their program's folder in the cache. */
export const peers: Readonly<Record<string, Peer>> = {
  kellnr: {
    ...{ title: 'Kellnr', version: '6.13.0', home: 'https://github.com/kellnr/kellnr' },
    async start(dir, port) {
      const token = 'plimsollcheckplimsollcheck123456'
      const env = {
        ...{ KELLNR_REGISTRY__DATA_DIR: dir, KELLNR_LOCAL__IP: '127.0.0.1' },
        ...{ KELLNR_LOCAL__PORT: `${port}`, KELLNR_ORIGIN__PORT: `${port}` },
        ...{ KELLNR_SETUP__ADMIN_PWD: PASSWORD, KELLNR_SETUP__ADMIN_TOKEN: token },
      }
      const program = await Program.start(cargoProgram('kellnr', '6.13.0'), ['start'], {
        env,
        port,
      })
      return { target: `sparse+http://127.0.0.1:${port}/api/v1/crates/`, token, program }
    },
  },
  nora: {
    ...{ title: 'NORA', version: '1.4.3', home: 'https://github.com/getnora-io/nora' },
    async start(dir, port) {
      const users = join(dir, 'users.htpasswd')
      writeFileSync(users, HTPASSWD)
      const base = `http://127.0.0.1:${port}`
      const path = cargoProgram('nora-registry', '1.4.3', 'nora')
      const program = await startNora(path, join(dir, 'data'), port, {
        ...{ NORA_AUTH_ENABLED: 'true', NORA_AUTH_ANONYMOUS_READ: 'true' },
        ...{ NORA_AUTH_HTPASSWD_FILE: users, NORA_AUTH_TOKEN_STORAGE: join(dir, 'tokens') },
      })
      const body = { username: 'check', password: PASSWORD, role: 'write' }
      const token = `Bearer ${await tokenFrom(`${base}/api/tokens`, body)}`
      return { target: `sparse+${base}/cargo/index/`, token, program }
    },
  },
  'cargo-http-registry': {
    ...{ title: 'cargo-http-registry', version: '0.1.8' },
    home: 'https://github.com/d-e-s-o/cargo-http-registry',
    async start(dir, port) {
      const args = [join(dir, 'registry'), '--addr', `127.0.0.1:${port}`]
      const program = await Program.start(cargoProgram('cargo-http-registry', '0.1.8'), args, {
        port,
      })
      const env = { CARGO_NET_GIT_FETCH_WITH_CLI: 'true' }
      return { target: `http://127.0.0.1:${port}/git`, token: 'any', env, program }
    },
  },
  ktra: {
    ...{ title: 'ktra', version: '0.7.0', home: 'https://github.com/moriturus/ktra' },
    async start(dir, port) {
      const [index, work, base] = [
        join(dir, 'index.git'),
        join(dir, 'w'),
        `http://127.0.0.1:${port}`,
      ]
      run('git', ['init', '--quiet', '--bare', '--initial-branch=main', index])
      run('git', ['clone', '--quiet', index, work])
      writeFileSync(join(work, 'config.json'), JSON.stringify({ dl: `${base}/dl`, api: base }))
      const author = ['-c', 'user.name=check', '-c', 'user.email=check@example.com']
      run('git', ['-C', work, 'add', 'config.json'])
      run('git', ['-C', work, ...author, 'commit', '--quiet', '--message=config.json'])
      run('git', ['-C', work, 'push', '--quiet', 'origin', 'HEAD:main'])
      const toml = `[index_config]\nremote_url = "file://${index}"\nlocal_path = "${dir}/index"
[db_config]\ndb_dir_path = "${dir}/db"
[crate_files_config]\ndl_dir_path = "${dir}/crates"\ncache_dir_path = "${dir}/cache"
[server_config]\naddress = [127, 0, 0, 1]\nport = ${port}\n`
      writeFileSync(join(dir, 'ktra.toml'), toml)
      const args = ['--config', join(dir, 'ktra.toml')]
      const program = await Program.start(cargoProgram('ktra', '0.7.0'), args, { port })
      const token = await tokenFrom(`${base}/ktra/api/v1/new_user/check`, { password: PASSWORD })
      return { target: `file://${index}`, token, program }
    },
  },
  margo: {
    ...{ title: 'margo', version: '0.1.7', home: 'https://github.com/integer32llc/margo' },
    async start(dir, port) {
      const index = 'sparse+https://integer32llc.github.io/margo/'
      const margo = cargoProgram('margo', '0.1.7', 'margo', ['--index', index])
      const [tree, base] = [join(dir, 'tree'), `http://127.0.0.1:${port}`]
      run(margo, ['init', '--defaults', '--base-url', base, tree])
      const made = await crates(base)
      for (const { name, version, bytes } of made) {
        const file = join(dir, `${name}-${version}.crate`)
        writeFileSync(file, bytes)
        run(margo, ['add', '--registry', tree, file])
      }
      run(margo, ['yank', '--registry', tree, '--version', '1.0.0', 'check-base'])
      // As its README has it.
      const args = ['-m', 'http.server', '--bind', '127.0.0.1', '--directory', tree, `${port}`]
      const program = await Program.start('python3', args, { port })
      const names = [...new Set(made.map(({ name }) => name))]
      return { target: `sparse+${base}/`, token: null, crates: names, program }
    },
  },
  gitea: {
    ...{ title: 'Gitea', version: '1.26.0', home: 'https://github.com/go-gitea/gitea' },
    async start(dir, port) {
      const { gitea, source } = giteaProgram('1.26.0')
      const [base, config] = [`http://127.0.0.1:${port}`, join(dir, 'app.ini')]
      const ini = `RUN_USER = ${userInfo().username}\nI_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]\nHTTP_ADDR = 127.0.0.1\nHTTP_PORT = ${port}\nROOT_URL = ${base}/\nSTATIC_ROOT_PATH = ${source}
DISABLE_SSH = true\nOFFLINE_MODE = true\n[database]\nDB_TYPE = sqlite3\nPATH = ${dir}/gitea.db
[security]\nINSTALL_LOCK = true\n[log]\nLEVEL = Warn\n[cron]\nENABLED = false\n`
      writeFileSync(config, ini)
      const admin = (...args: readonly string[]) =>
        run(gitea, ['--work-path', dir, '--config', config, ...args])
      admin('migrate')
      const user = ['--username', 'check', '--password', PASSWORD, '--email', 'check@example.com']
      admin('admin', 'user', 'create', ...user, '--must-change-password=false')
      const scope = ['--username', 'check', '--scopes', 'write:package', '--raw']
      // To root it prints a warning first.
      const printed = admin('admin', 'user', 'generate-access-token', ...scope)
      const token = `Bearer ${printed.split('\n').at(-1)}`
      const args = ['--work-path', dir, '--config', config, 'web']
      const program = await Program.start(gitea, args, { port })
      return { target: `sparse+${base}/api/packages/check/cargo/`, token, program }
    },
  },
}

/** Starts NORA, without a limit of rates, on data in `dir`. */
export function startNora(
  path: string,
  dir: string,
  port: number,
  more: Readonly<Record<string, string>> = {},
): Promise<Program> {
  mkdirSync(dir, { recursive: true })
  const env = {
    ...{ NORA_HOST: '127.0.0.1', NORA_PORT: `${port}`, NORA_STORAGE_PATH: dir },
    ...{ NORA_PUBLIC_URL: `http://127.0.0.1:${port}`, NORA_RATE_LIMIT_ENABLED: 'false' },
    ...{ NORA_REGISTRIES_ENABLE: 'cargo', NORA_CARGO_PROXY: '', ...more },
  }
  return Program.start(path, ['serve'], { env, port })
}

/** What a registry at `base` gets by its own command; manifests are as Cargo packs them. */
function crates(base: string): Promise<Made[]> {
  const own = `registry-index = "sparse+${base}/"`
  const rich = `links = "rich"\nrust-version = "1.60"
[dependencies.other]\npackage = "check-base"\n${own}\nversion = "1.0"\noptional = true
[build-dependencies.check-base]\n${own}\nversion = "1.0"
[target.'cfg(windows)'.build-dependencies.check-base]\n${own}\nversion = ">=1.0, <2"
[features]\nstrong = ["dep:other"]\n`
  return Promise.all([
    ...[make('check-base', '1.0.0'), make('check-base', '1.1.0'), make('CheckMixed', '1.0.0+b.7')],
    ...[
      make('check-rich', '1.2.3', rich),
      make('foreign', '1.0.0', '[dependencies.serde]\nversion = "1"\n'),
    ],
    ...['a', 'ab', 'abc'].map(name => make(name, '1.0.0')),
  ])
}

/** Returns a program that Cargo compiles once. It is not optimized: only its answers count. */
function cargoProgram(
  crate: string,
  version: string,
  program = crate,
  from: readonly string[] = [],
): string {
  const root = join(PEERS, `${crate}-${version}`)
  const path = join(root, 'bin', program)
  const args = ['install', '--debug', '--jobs=1', '--root', root, ...from, `${crate}@${version}`]
  if (!existsSync(path)) run('nice', ['-n', '19', 'cargo', ...args, '--locked'])
  return path
}

/** Compiles Gitea once, from its module; `source` has the templates that it needs. */
function giteaProgram(version: string): { gitea: string; source: string } {
  const [folder, module] = [join(PEERS, `gitea-${version}`), `code.gitea.io/gitea@v${version}`]
  const gitea = join(folder, 'gitea')
  const download = JSON.parse(run('go', ['mod', 'download', '-json', module]))
  if (!existsSync(gitea)) {
    mkdirSync(folder, { recursive: true })
    run('go', ['mod', 'init', 'check'], folder)
    const replaced = readFileSync(download.GoMod, 'utf8').match(/^replace .*$/gm) ?? []
    appendFileSync(join(folder, 'go.mod'), `${replaced.join('\n')}\n`)
    run('go', ['get', module], folder)
    const tags = ['-tags', 'sqlite sqlite_unlock_notify']
    run('nice', ['-n', '19', 'go', 'build', '-p', '1', ...tags, 'code.gitea.io/gitea'], folder)
  }
  return { gitea, source: download.Dir }
}

async function tokenFrom(url: string, body: object): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return ((await answer.json()) as { token: string }).token
}

/** Runs a program to its end and returns what it prints. Throws, with its errors, if it fails. */
function run(command: string, args: readonly string[], cwd?: string): string {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
  const ended = spawnSync(command, args, { encoding: 'utf8', stdio, ...(cwd && { cwd }) })
  if (ended.status === 0) return ended.stdout.trim()
  throw new Error(`${command} ${args.join(' ')} has failed: ${ended.error ?? ended.stderr}`)
}
