import { type Issue, refusalOnly, warning } from '../../core/error/error.ts'
import { canonicalName, isName, type Name } from '../../core/name.ts'
import { knownPath } from '../../core/paths/upstream.ts'
import { timestamp } from '../../core/timestamp.ts'
import { ANY_VERSION } from '../../core/upstream/crate.ts'
import { paced } from '../database/pace.ts'
import { spellings } from '../records/crates.ts'
import type { Registry } from '../registry/registry.ts'
import type { Upstreams } from './open.ts'
import { keptNames } from './tree.ts'
import type { Upstream } from './upstream.ts'

/** The largest feed that is read, in bytes and names; that of crates.io has about 50 KB. */
const FEED_MAX = 4 * 1024 * 1024
const NAMES_MAX = 1000

/** How many names one statement looks up: all at once would hold up everything else. */
const TOGETHER = 500

/**
 * Returns the rules of an upstream that match no version of which a line is kept, as the settings
 * have them: a rule for what nobody has asked for yet, or one that is written wrong.
 */
export async function unmatchedRules({
  rules: { allow, deny },
  source,
}: Pick<Upstream, 'rules' | 'source'>): Promise<string[]> {
  const left = new Map([...allow, ...deny].map(rule => [rule, allow.includes(rule)]))
  for (const name of left.size > 0 ? await keptNames(source) : []) {
    const about = await paced(() => [...left.keys()].filter(rule => rule.isAbout(name)))
    const lines = about.length > 0 ? (await source.index.kept(name, true))?.lines : null
    for (const rule of about)
      if ([...(lines?.keys() ?? [])].some(version => rule.matches(name, version))) left.delete(rule)
  }
  return Array.from(left, ([{ text }, isAllowed]) => `${isAllowed ? 'allow' : 'deny'}: ${text}`)
}

/**
 * Returns a warning for each upstream of which lines are kept under the name of a new crate here,
 * which takes their place for all who use this registry; each gets its alarm.
 */
export async function takenFrom(
  { byName }: Pick<Upstreams, 'byName'>,
  name: Name,
  at: string,
): Promise<Issue[]> {
  const spelled = ['-', '_'].map(mark => name.replaceAll(/[-_]/g, mark) as Name)
  const taken: Issue[] = []
  for (const { name: upstream, source } of byName.values()) {
    const files = [name, ...spelled].map(each => source.place.head(knownPath(each)))
    if ((await Promise.all(files)).every(file => file === null)) continue
    taken.push(warning('name_upstream', { name, upstream }))
    await source.onAlarm({ kind: 'name', name, version: ANY_VERSION, at })
  }
  return taken
}

/** Returns what `takenFrom` does; what fails beside an addition is told, and no failure of it. */
export function warnOfName(
  upstreams: Upstreams,
  name: Name,
  at: string,
): Promise<readonly Issue[]> {
  return takenFrom(upstreams, name, at).catch(error => refusalOnly(error).issues)
}

/**
 * Compares the names of an upstream's crates, those that are kept and the new ones in its RSS feed,
 * with own ones: whoever publishes such a name there may want to be taken for this registry's
 * crate, or one here for theirs. Each raises an alarm, once.
 */
export async function checkNames(
  registry: Registry,
  { settings, source }: Pick<Upstream, 'settings' | 'source'>,
): Promise<void> {
  const compare = async (names: readonly Name[]) => {
    for (let first = 0; first < names.length; first += TOGETHER) {
      const batch = names.slice(first, first + TOGETHER).map(canonicalName)
      const at = timestamp(registry.clock())
      for (const name of (await spellings(registry.database, batch)).values())
        await source.onAlarm({ kind: 'name', name, version: ANY_VERSION, at })
    }
  }
  await compare(await keptNames(source))
  if (settings.feed === '' || settings.offline) return
  const text = (await source.web.read(settings.feed, FEED_MAX))?.toString('utf8') ?? ''
  const links = text.matchAll(/<link>[^<]{0,200}\/crates\/([A-Za-z0-9_-]{1,64})\/?<\/link>/g)
  const names = new Set(Array.from(links, ([, name = '']) => name).filter(isName))
  await compare([...names].slice(0, NAMES_MAX))
}
