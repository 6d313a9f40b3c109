import { CheckBox } from './check.ts'
import { startCompare } from './compare.ts'
import { Helper, type Helpers } from './helper.ts'
import { startSource } from './source.ts'

/** How long the workers may be silent, in seconds. */
const SECONDS = { archive: 20, render: 5 }

const helpers: Helpers = {
  archive: new Helper('./archive.js', SECONDS.archive),
  render: new Helper('./render.js', SECONDS.render),
}
const source = document.querySelector<HTMLElement>('[data-sources]')
const compare = document.querySelector<HTMLElement>('[data-compare]')
if (source)
  startSource(source, helpers).catch((error: Error) =>
    new CheckBox(source).say(`The package could not be shown: ${error.message}.`),
  )
if (compare) startCompare(compare, helpers)
