import { html, type Markup } from '../elements/markup.ts'

/** Up to this number of versions, they are offered in lists; more can be typed. */
const LISTED_MAX = 200

/** Renders the form that asks for the comparison of two versions; `versions` are newest first. */
export function compareForm(
  action: string,
  versions: readonly string[],
  from: string,
  to: string,
): Markup {
  const isListed = versions.length <= LISTED_MAX
  const choice = (name: string, chosen: string) =>
    isListed
      ? html`<select name="${name}">${versions.map(one => html`<option${one === chosen ? html` selected` : null}>${one}</option>`)}</select>`
      : html`<input name="${name}" value="${chosen}" list="compare-versions" autocomplete="off" spellcheck="false" required>`
  const list = html`<datalist id="compare-versions">${versions.slice(0, LISTED_MAX).map(one => html`<option value="${one}"></option>`)}</datalist>`
  return html`<form class="compare-form" action="${action}" method="get">
<label>From ${choice('from', from)}</label> <label>to ${choice('to', to)}</label> <button type="submit" class="button">Compare</button>
${isListed ? null : list}</form>`
}
