import { compareText, type Features } from '../../core/entry/entry.ts'
import type { ComparedVersion } from '../crate-data.ts'
import { html, join, type Markup } from '../elements/markup.ts'

/** Returns all features; as in Cargo, an optional dependency without `dep:` is also a feature. */
export function allFeatures(version: Pick<ComparedVersion, 'features' | 'deps'>): Features {
  const { features } = version
  const named = new Set(Object.values(features).flat())
  const implicit = version.deps
    .filter(({ name, optional }) => optional && !named.has(`dep:${name}`))
    .map(({ name }) => [name, [`dep:${name}`]] as const)
  // A feature with the name of a dependency comes last, so that it wins.
  return Object.fromEntries([...implicit, ...Object.entries(features)])
}

/** Renders the features and what each enables; features that are on by default are marked. */
export function featureSection(features: Features): Markup {
  const names = Object.keys(features).sort(
    (a, b) => Number(b === 'default') - Number(a === 'default') || compareText(a, b),
  )
  const onByDefault = closure(features, 'default')
  return html`<ul class="rows">
${names.map(
  name => html`<li id="feature-${name}"><div class="row-head"><strong>${name}</strong>
${name !== 'default' && onByDefault.has(name) ? html`<span class="badge good">default</span>` : null}</div>
<div class="row-more">${enables(features, features[name] ?? [])}</div></li>
`,
)}</ul>`
}

function enables(features: Features, list: readonly string[]): Markup {
  if (list.length === 0) return html`enables nothing else`
  const items = list.map(one => {
    const code = html`<code>${one}</code>`
    return Object.hasOwn(features, one) ? html`<a href="#feature-${one}">${code}</a>` : code
  })
  return html`enables ${join(items)}`
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
