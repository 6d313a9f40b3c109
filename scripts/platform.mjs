// The folder of a release for one platform, from that of this machine.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unpack } from './node.mjs'
import { materialsOf } from './sbom.mjs'

/**
 * Makes `folder` of what `image.mjs` made in `image`: with the Node and the part of libsql for that
 * platform, from npm, and what the folder then consists of. Nothing of it has to run here.
 */
export function makePlatform({ root, image, folder, platform, node, list, scratch }) {
  const { package: name, version, date, integrity, addon } = node
  cpSync(image, folder, { recursive: true, verbatimSymlinks: true })
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const locked = lock[`node_modules/${addon}`]
  const addons = join(folder, 'node_modules', '@libsql')
  rmSync(addons, { recursive: true })
  const [, own = ''] = addon.split('/')
  const [taken, downloaded] = [join(scratch, 'addon'), join(scratch, 'node')]
  unpack(addon, locked.version, locked.integrity, taken)
  for (const file of ['index.node', 'package.json'])
    cpSync(join(taken, file), join(addons, own, file))
  unpack(name, version, integrity, downloaded)
  cpSync(join(downloaded, 'bin', 'node'), join(folder, 'node'))
  cpSync(join(downloaded, 'LICENSE'), join(folder, 'LICENSE-NODE'))
  const write = (file, text) => writeFileSync(join(folder, file), `${text}\n`)
  write('NODE', `Node ${version}, of ${date}: ${name}@${version} from npm\n${integrity}`)
  write('sbom.cdx.json', JSON.stringify(materialsOf(list, root, node), null, 2))
  write(join('dist', 'packed'), `archive for ${platform}`)
  const licenses = join(folder, 'LICENSES')
  const [here] = readdirSync(join(image, 'node_modules', '@libsql'))
  write('LICENSES', readFileSync(licenses, 'utf8').trim().replace(`@libsql/${here} `, `${addon} `))
}
