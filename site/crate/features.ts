import { compareText, type Features } from '../../core/entry/entry.ts'
import { formatNumber } from '../../core/quantity.ts'
import type { ComparedVersion } from '../crate-data.ts'
import { cut } from '../elements/elements.ts'
import { html, join, type Markup } from '../elements/markup.ts'

/** Returns all features; as in Cargo, an optional dependency without `dep:` is also a feature. */
export function allFeatures(version: Pick<ComparedVersion, 'features' | 'deps'>): Features {
  const { features } = version
  const optional = version.deps.filter(dep => dep.optional)
  if (optional.length === 0) return features
  const named = new Set(Object.values(features).flat())
  const implicit = optional
    .filter(({ name }) => !named.has(`dep:${name}`))
    .map(({ name }) => [name, [`dep:${name}`]] as const)
  // A feature with the name of a dependency comes last, so that it wins.
  return Object.fromEntries([...implicit, ...Object.entries(features)])
}

/** The most features, or changes of features, that a page lists; `crate.json` has all of them. */
export const FEATURES_SHOWN = 300

const ITEMS_SHOWN = 25

/**
 * Renders the features and the values that each enables; default features are marked. A long list
 * is cut, with a link to `record`, which has all features.
 */
export function featureSection(features: Features, record: string): Markup {
  const names = Object.keys(features).sort(
    (a, b) => Number(b === 'default') - Number(a === 'default') || compareText(a, b),
  )
  const shown = new Set(names.slice(0, FEATURES_SHOWN))
  const onByDefault = closure(features, 'default')
  const more =
    names.length === shown.size
      ? null
      : html`
<p class="quiet">These are the first ${shown.size} of ${formatNumber(names.length)} features. <a href="${record}">crate.json</a> has all of them.</p>`
  return html`<ul class="rows">
${[...shown].map(
  name => html`<li id="feature-${name}"><div class="row-head"><strong>${cut(name)}</strong>${name !== 'default' && onByDefault.has(name) ? html` <span class="badge good">default</span>` : null}</div><div class="row-more">${enables(shown, features[name] ?? [])}</div></li>
`,
)}</ul>${more}`
}

function enables(shown: ReadonlySet<string>, list: readonly string[]): Markup {
  if (list.length === 0) return html`enables nothing else`
  return html`enables ${itemCodes(list, item => (shown.has(item) ? `#feature-${item}` : null))}`
}

/** Renders the items of a feature, perhaps as links; of very many the first, and how many more. */
export function itemCodes(
  list: readonly string[],
  linkOf: (item: string) => string | null = () => null,
): Markup {
  const items = list.slice(0, ITEMS_SHOWN).map(item => {
    const [code, link] = [html`<code>${cut(item)}</code>`, linkOf(item)]
    return link === null ? code : html`<a href="${link}">${code}</a>`
  })
  const more = list.length - items.length
  return more === 0 ? join(items) : html`${join(items)} and ${formatNumber(more)} more`
}

/** Returns the features that `start` enables, including itself. */
function closure(features: Features, start: string): Set<string> {
  const seen = new Set<string>()
  const waiting = [start]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (seen.has(name) || !Object.hasOwn(features, name)) continue
    seen.add(name)
    waiting.push(...(features[name] ?? []))
  }
  return seen
}
