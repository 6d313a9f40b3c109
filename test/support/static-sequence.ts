import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { canonicalName, type Name } from '../../core/name.ts'
import { resolveSettings } from '../../core/settings/settings.ts'
import { registryUrls } from '../../core/urls/urls.ts'
import { FolderPlace } from '../../generator/places/folder-place.ts'
import { followers } from '../../generator/projections/projections.ts'
import { buildStatic, type StaticBuild, type StaticResult } from '../../generator/static/build.ts'
import { push } from '../../generator/static/push.ts'
import { filesBelow, sumsBelow } from './folder.ts'
import type { Random } from './random.ts'
import { writeCrate } from './write-crate.ts'

const BASE = 'https://crates.example'
/** The words of which names, keywords and descriptions are made. */
const WORDS = 'alpha beta gamma delta omega parse async http json net'.split(' ')

const DOWNLOAD = 'crates/{crate}/{version}/download'

interface Member {
  readonly name: string
  readonly version: string
  /** What tells its bytes from those of another try. */
  readonly salt: number
  readonly needs: string | null
}

/** Returns a build with the settings of a text. */
export function jobOf(text: string, from: string, out: string, cache: string | null): StaticBuild {
  const { settings } = resolveSettings({ file: { name: 'plimsoll.toml', text } })
  const urls = registryUrls(settings.registry, BASE)
  return { followers, from, out, settings, urls, cache }
}

/**
 * A random sequence of changes to a folder of `.crate` files and to the tree of it. After each, the
 * tree has to have the bytes of one that is built from nothing.
 */
export class StaticSequence {
  readonly #random: Random
  readonly #folder: string
  readonly #members = new Map<string, Member>()
  /** Why releases are yanked, '' for no reason, and crates are deprecated. */
  readonly #yanked = new Map<string, string>()
  readonly #deprecated = new Map<string, string>()
  readonly #foreign = new Set<string>()
  #title = 'one'
  #dl = ''
  #tries = 0

  constructor(random: Random, folder: string) {
    this.#random = random
    this.#folder = folder
    mkdirSync(this.#from, { recursive: true })
  }

  get #from(): string {
    return join(this.#folder, 'from')
  }

  get #cache(): string {
    return join(this.#folder, 'cache')
  }

  get out(): string {
    return join(this.#folder, 'out')
  }

  /** The number of `.crate` files. */
  get size(): number {
    return this.#members.size
  }

  job(out = this.out, cache: string | null = this.#cache): StaticBuild {
    return jobOf(this.settings, this.#from, out, cache)
  }

  /** The text of the settings. */
  get settings(): string {
    const dl = this.#dl === '' ? '' : `dl = "${BASE}/${this.#dl}"`
    const names = new Set([...this.#members.values()].map(({ name }) => name))
    const yanked = [...this.#yanked]
      .filter(([spec]) => this.#members.has(spec))
      .map(([spec, why]) => (why ? `{ version = "${spec}", reason = "${why}" }` : `"${spec}"`))
    const deprecated = [...this.#deprecated]
      .filter(([name]) => names.has(name))
      .map(([name, req]) => `{ crate = "${name}@${req}", reason = "old", use = "${name}" }`)
    return [
      `yanked = [${yanked}]\ndeprecated = [${deprecated}]`,
      `[registry]\nbase_url = "${BASE}"\napi = "none"\ntitle = "${this.#title}"\n${dl}`,
    ].join('\n')
  }

  /** Adds crates, some with several versions. */
  fill(count: number): void {
    for (let at = 0; at < count; at++) this.#add()
  }

  /** Builds, and compares the tree with one from nothing. */
  async build(what = 'build'): Promise<StaticResult> {
    const result = await buildStatic(this.job())
    const fresh = join(this.#folder, 'fresh')
    rmSync(fresh, { recursive: true, force: true })
    const whole = await buildStatic(this.job(fresh, null))
    const [found, wanted] = [sumsBelow(this.out), sumsBelow(fresh)]
    for (const path of this.#foreign) {
      assert.ok(found.has(path), `${what}: ${path} is gone`)
      found.delete(path)
    }
    const paths = [...new Set([...found.keys(), ...wanted.keys()])]
    const differs = paths.filter(path => found.get(path) !== wanted.get(path))
    for (const path of differs.slice(0, 1)) {
      const text = (folder: string) =>
        existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : null
      assert.equal(text(this.out), text(fresh), `${what}: ${path}`)
    }
    assert.deepEqual(differs.sort(), [], what)
    assert.deepEqual([result.crates, result.releases], [whole.crates, whole.releases], what)
    return result
  }

  /** Makes one change or several; returns their names. */
  async change(): Promise<string> {
    const done: string[] = []
    do {
      const [name, work] = this.#random.pick(Object.entries(this.#changes))
      await work()
      done.push(name)
    } while (this.#random.chance(0.3))
    return done.join(', ')
  }

  readonly #changes: Readonly<Record<string, () => unknown>> = {
    add: () => this.#add(),
    'add some': () => this.fill(this.#random.between(2, 6)),
    remove: () => this.#remove(),
    'remove some': () => {
      for (let some = this.#random.between(2, 5); some > 0; some--) this.#remove()
    },
    replace: () => {
      const member = this.#any()
      if (member) this.#put({ ...member, salt: ++this.#tries })
    },
    yank: () => {
      const { name, version } = this.#any() ?? { name: 'none', version: '1.0.0' }
      const spec = `${name}@${version}`
      const why = this.#random.pick(['', 'it leaks', 'it breaks'])
      if (!this.#yanked.delete(spec)) this.#yanked.set(spec, why)
    },
    deprecate: () => {
      const { name } = this.#any() ?? { name: 'none' }
      const requirement = this.#random.pick(['*', '<2'])
      if (!this.#deprecated.delete(name)) this.#deprecated.set(name, requirement)
    },
    respell: () => {
      const { name } = this.#any() ?? { name: '' }
      const dash = name.includes('-') ? name.replaceAll('-', '_') : name.replaceAll('_', '-')
      const cased = name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase()
      const other = this.#random.pick([dash, cased])
      const all = [...this.#members.values()]
      if (all.some(({ needs }) => needs === name)) return
      for (const member of all.filter(member => member.name === name)) {
        this.#drop(member)
        this.#put({ ...member, name: other })
      }
    },
    title: () => {
      this.#title = this.#random.pick(['one', 'two'])
    },
    dl: () => {
      this.#dl = this.#random.pick(['', 'files/{crate}-{version}.crate', DOWNLOAD])
    },
    foreign: () => {
      const path = this.#random.pick(['notes/mine.txt', 'crates/my-notes.json', 'own.html'])
      if (this.#write(path, 'mine')) this.#foreign.add(path)
    },
    stranger: () =>
      this.#write(this.#random.pick(['index/st/ra/stranger', 'crates/s/crate.json']), 'x'),
    spoil: () => {
      const path = this.#anyFile()
      if (path) writeFileSync(join(this.out, path), 'spoilt')
    },
    delete: () => {
      const path = this.#anyFile()
      if (path) rmSync(join(this.out, path))
    },
    'lose the tree': () => {
      rmSync(this.out, { recursive: true, force: true })
      this.#foreign.clear()
    },
    'lose the cache': () => rmSync(this.#cache, { force: true }),
    'keep the cache': () => {
      if (existsSync(this.#cache)) copyFileSync(this.#cache, `${this.#cache}.old`)
    },
    'old cache': () => {
      if (existsSync(`${this.#cache}.old`)) copyFileSync(`${this.#cache}.old`, this.#cache)
    },
    'damage the cache': () => {
      if (!existsSync(this.#cache)) return
      const bytes = readFileSync(this.#cache)
      const at = this.#random.below(bytes.length)
      bytes[at] = (bytes[at] ?? 0) ^ this.#random.between(1, 255)
      writeFileSync(this.#cache, this.#random.chance(0.7) ? bytes : bytes.subarray(0, at))
    },
    push: async () => {
      const member = this.#add()
      const { settings, urls } = this.job()
      if (!existsSync(join(this.out, 'index/config.json'))) return
      const to = new FolderPlace(this.out, { sync: 'never' })
      // It may need one that is not built yet, or another address may have been set.
      await push({ files: [this.#path(member)], to, settings, urls }).catch(() => undefined)
    },
  }

  #add(): Member {
    const others = [...this.#members.values()]
    const known = this.#random.chance(0.4) ? this.#any() : null
    const words = [this.#random.pick(WORDS), this.#random.pick(WORDS), this.#random.below(1000)]
    const name = known?.name ?? words.join(this.#random.pick(['-', '_']))
    const canonical = canonicalName(name as Name)
    const same = others.find(other => canonicalName(other.name as Name) === canonical)
    const needs = this.#random.chance(0.3) ? (this.#any()?.name ?? null) : null
    const member = {
      name: same?.name ?? name,
      version: `${this.#random.below(3)}.${this.#random.below(3)}.0`,
      salt: ++this.#tries,
      needs: needs === name ? null : needs,
    }
    this.#put(member)
    return member
  }

  #remove(): void {
    const member = this.#any()
    if (!member) return
    const all = [...this.#members.values()]
    const isLast = all.filter(({ name }) => name === member.name).length === 1
    // Nothing may need what is gone.
    if (isLast)
      for (const other of all.filter(({ needs }) => needs === member.name)) this.#drop(other)
    this.#drop(member)
  }

  #put(member: Member): void {
    const { name, version, salt, needs } = member
    const random = [0, 1, 2].map(at => WORDS[(salt * 7 + at * 3) % WORDS.length])
    const need = needs
      ? `[dependencies.${needs}]\nversion = "*"\nregistry-index = "sparse+${BASE}/index/"\n`
      : ''
    const manifest = [
      `[package]\nname = "${name}"\nversion = "${version}"\nedition = "2021"`,
      `description = "${random.join(' ')} ${salt}"\nlicense = "MIT"\nkeywords = ["${random[0]}"]`,
      need,
    ].join('\n')
    const files = { 'README.md': `# ${name} ${salt}\n`, 'src/lib.rs': '' }
    writeCrate(this.#path(member), { name, version, manifest, files })
    this.#members.set(`${name}@${version}`, member)
  }

  #drop(member: Member): void {
    rmSync(this.#path(member))
    this.#members.delete(`${member.name}@${member.version}`)
    const isGone = ![...this.#members.values()].some(({ name }) => name === member.name)
    const users = [...this.#members.values()].filter(({ needs }) => isGone && needs === member.name)
    for (const user of users) this.#put({ ...user, needs: null })
  }

  #any(): Member | null {
    return this.#members.size === 0 ? null : this.#random.pick([...this.#members.values()])
  }

  #anyFile(): string | null {
    const own = existsSync(this.out) ? filesBelow(this.out) : []
    const files = own.filter(path => !this.#foreign.has(path) && path !== 'index/config.json')
    return files.length === 0 ? null : this.#random.pick(files)
  }

  #path({ name, version }: Member): string {
    return join(this.#from, `${name}-${version}.crate`)
  }

  #write(path: string, text: string): boolean {
    if (!existsSync(join(this.out, 'index/config.json'))) return false
    mkdirSync(dirname(join(this.out, path)), { recursive: true })
    writeFileSync(join(this.out, path), text)
    return true
  }
}
