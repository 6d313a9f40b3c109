// site/browser/sources: Shows and compares the files of packages in the browser. Source pages load
// it; no server sends it single files.
import { CheckBox } from './check.ts'
import { startCompare } from './compare.ts'
import { startSource } from './source.ts'
import { TaskWorker, type Workers } from './task-worker.ts'

/** Maximum silence of the workers, in seconds. */
const SECONDS = { archive: 20, render: 5 }

const workers: Workers = {
  archive: new TaskWorker('./archive.js', SECONDS.archive),
  render: new TaskWorker('./render.js', SECONDS.render),
}
const source = document.querySelector<HTMLElement>('[data-sources]')
const compare = document.querySelector<HTMLElement>('[data-compare]')
if (source)
  startSource(source, workers).catch((error: Error) =>
    new CheckBox(source).say(`The package could not be shown: ${error.message}.`),
  )
if (compare) startCompare(compare, workers)
