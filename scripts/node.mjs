// The Node that each archive of a release brings: deploy/release/nodes.json names it.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail, run } from './command.mjs'

const CURRENT_DAYS = 90
const DAY = 86_400

/**
 * Returns the Node of each platform. Ends this process if one of them came out more than 90 days
 * before `at`, the seconds of the commit: it may lack fixes of security by then.
 */
export function currentNodes(root, at) {
  const file = join('deploy', 'release', 'nodes.json')
  const nodes = JSON.parse(readFileSync(join(root, file), 'utf8'))
  for (const [platform, { version, date }] of Object.entries(nodes))
    if (at - Date.parse(date) / 1000 > CURRENT_DAYS * DAY)
      fail(
        `Node ${version} of ${platform} came out on ${date}, more than ${CURRENT_DAYS} days before this commit; name a newer one in ${file} (CONTRIBUTING.md says how)`,
      )
  return Object.entries(nodes)
}

/** Unpacks a package of npm into a folder, if its bytes are those that we know. */
export function unpack(name, version, integrity, folder) {
  mkdirSync(folder, { recursive: true })
  const args = ['pack', `${name}@${version}`, '--loglevel=error', '--pack-destination', folder]
  const file = join(folder, run('npm', args, folder).toString().trim())
  const sum = createHash('sha512').update(readFileSync(file)).digest('base64')
  if (`sha512-${sum}` !== integrity)
    fail(`${name}@${version} has the checksum sha512-${sum} and not ${integrity}`)
  run('tar', ['-xzf', file, '--strip-components=1'], folder)
}
