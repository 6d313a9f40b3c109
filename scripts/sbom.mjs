// Lists of the packages in what is released, as CycloneDX.
import { run } from './command.mjs'
import { bundledPackages, copiedPackages, referenceOf } from './packages.mjs'

/**
 * Returns the list of an installed and built checkout: what npm installs with the program on all
 * systems, and what its bundles have in them. npm would number it at random and date it today.
 */
export function materials(root, at) {
  const sbom = (...args) => {
    const options = ['--sbom-format=cyclonedx', '--package-lock-only', '--workspaces=false']
    return JSON.parse(run('npm', ['sbom', ...options, ...args], root).toString())
  }
  const list = sbom()
  const installed = sbom('--omit=dev').components.map(each => each['bom-ref'])
  const bundled = bundledPackages(root).map(path => referenceOf(root, path))
  // npm takes the name of the folder.
  list.metadata.component.name = 'plimsoll'
  list.metadata.timestamp = new Date(at * 1000).toISOString()
  delete list.serialNumber
  return only(list, [...installed, ...bundled])
}

/** Returns the same list for the archive of a platform: what is in it, and its Node. */
export function materialsOf(list, root, { package: name, version, integrity, addon }) {
  const paths = [...bundledPackages(root), ...copiedPackages(root)]
  const parts = paths.map(path => referenceOf(root, path)).filter(ref => !isAddon(ref))
  const own = list.components.find(each => each.name === addon)
  const content = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex')
  const node = {
    'bom-ref': `${name}@${version}`,
    type: 'application',
    name: 'node',
    version,
    purl: `pkg:npm/${name}@${version}`,
    hashes: [{ alg: 'SHA-512', content }],
    licenses: [{ license: { id: 'MIT' } }],
  }
  const { components, ...rest } = only(list, [...parts, own['bom-ref']])
  return { ...rest, components: [...components, node] }
}

/** Whether a package is the part of libsql for one platform. */
export function isAddon(name) {
  return name.startsWith('@libsql/')
}

function only(list, references) {
  const kept = new Set([...references, list.metadata.component['bom-ref']])
  const components = list.components.filter(each => kept.has(each['bom-ref']))
  const dependencies = list.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn?.filter(name => kept.has(name)) }))
  return { ...list, components, dependencies }
}
