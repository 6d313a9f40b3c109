// What the modules of compiled tests import, without loading them.
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { root } from './prepare.mjs'

/** Modules of tests, which may start processes. */
export const OURS = /^dist[\\/](?:test|sample-app|bench|chaos)[\\/]/
/** What a module imports that starts some. */
export const PROCESS = /["'](?:node:child_process|playwright-core)["']/

/** Returns the text of a file of dist. */
export const textOf = remembered(file => readFileSync(join(root, file), 'utf8'))
const importsOf = remembered(file =>
  [...textOf(file).matchAll(/(?:from|import\() ?["'](\.[^"']+\.js)["']/g)].map(([, path]) =>
    normalize(join(dirname(file), path)),
  ),
)

/**
 * Whether a test, or a test module it imports, starts a process: a command, git, Cargo, a browser.
 */
export function startsProcess(file) {
  return [...modules(file)].some(module => OURS.test(module) && PROCESS.test(textOf(module)))
}

/** Adds a module of dist to those seen, and all that it imports. */
export function modules(file, seen = new Set()) {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const path of importsOf(file)) modules(path, seen)
  return seen
}

function remembered(work) {
  const known = new Map()
  return file => {
    if (!known.has(file)) known.set(file, work(file))
    return known.get(file)
  }
}
