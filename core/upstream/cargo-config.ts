import { CRATES_IO, isCratesIo } from '../index-url.ts'
import { INDEX_FOLDER } from '../paths/tree.ts'
import { UPSTREAM_FOLDER } from '../paths/upstream.ts'
import type { RegistryUrls } from '../urls/urls.ts'

interface CargoRegistry {
  readonly name: string
  readonly index: string
}

interface SetupUpstream extends CargoRegistry {
  readonly fallback: string
}

interface SetupIssuer {
  readonly kind: string
  readonly audience: readonly string[]
}

export interface CargoSetup {
  readonly base: string
  readonly own: CargoRegistry
  /** All, that one first. */
  readonly registries: readonly CargoRegistry[]
  /** The upstream whose crates come from here, and the registry that has them. */
  readonly replaced: { readonly upstream: SetupUpstream; readonly by: CargoRegistry } | null
  readonly others: readonly string[]
  /** Null for a registry without a web API. */
  readonly api: string | null
  readonly isPrivate: boolean
  /** What the settings want as `aud` of a job's token, by the kind of its issuer. */
  readonly audiences: ReadonlyMap<string, string>
}

/**
 * Returns what users of a registry configure. The registry itself takes the place of an upstream
 * that answers in it for missing names; the address of the `chosen` upstream takes its place under
 * a name of its own.
 */
export function cargoSetup(
  settings: {
    readonly registry: { readonly name: string }
    readonly auth: { readonly required: boolean }
    readonly upstream: Readonly<Record<string, SetupUpstream>>
    readonly issuer: Readonly<Record<string, SetupIssuer>>
  },
  { base, api, sparseIndex }: RegistryUrls,
  chosen: SetupUpstream | null = null,
): CargoSetup {
  const own = { name: settings.registry.name, index: sparseIndex }
  const upstreams = Object.values(settings.upstream)
  const upstream = chosen ?? upstreams.find(({ fallback }) => fallback !== 'off') ?? null
  const apart = chosen && {
    name: `${own.name}-${chosen.name}`,
    index: `sparse+${base}/${UPSTREAM_FOLDER}/${chosen.name}/${INDEX_FOLDER}/`,
  }
  return {
    base,
    own,
    registries: apart ? [own, apart] : [own],
    replaced: upstream && { upstream, by: apart ?? own },
    others: upstreams.filter(other => other !== upstream).map(({ name }) => name),
    api,
    isPrivate: settings.auth.required,
    audiences: new Map(
      Object.values(settings.issuer).flatMap(({ kind, audience: [first] }) =>
        first === undefined ? [] : [[kind, first] as const],
      ),
    ),
  }
}

/** Returns the environment variable with a user's token for a registry. */
export function tokenVariable({ name }: CargoRegistry): string {
  return `CARGO_REGISTRIES_${name.toUpperCase().replaceAll('-', '_')}_TOKEN`
}

/** Returns the variables with the tokens that reading needs: none in a registry that is public. */
export function tokensOf({ isPrivate, registries }: CargoSetup): string[] {
  return isPrivate ? registries.map(tokenVariable) : []
}

/**
 * Returns the block that users paste: a TOML document of Cargo's configuration that works as it is.
 * It never has `registry.default`, which breaks `cargo add`, or has it write the name of a
 * replacement into manifests. A replaced source has its replacement in `[registries]`, because
 * Cargo finds no token for one in `[source]` alone.
 */
export function cargoConfig(setup: CargoSetup): string {
  const { own, registries, replaced, others } = setup
  const ways = registries.map(
    registry => `# \`cargo login --registry ${registry.name}\` or ${tokenVariable(registry)}\n`,
  )
  const parts = [
    `# For .cargo/config.toml in a project, or in your home folder:
# \`cargo install\` reads only that one.
[registries.${own.name}]
index = "${own.index}"
# With \`registry.global-min-publish-age\`, for which Cargo 1.100 is needed,
# this line lets crates from here be used at once:
# min-publish-age = "0"`,
    setup.api !== null &&
      `# With \`publish = ["${own.name}"]\` in a Cargo.toml, \`cargo publish\` publishes
# here, and nowhere else.`,
    replaced && replacement(own, replaced),
    setup.isPrivate &&
      `# Readers need a token:
${ways.join('')}[registry]
global-credential-providers = ["cargo:token"]`,
    ...others.map(
      name =>
        `# \`plimsoll config --with ${name}\` has the crates of \`${name}\` come from here, too.`,
    ),
  ]
  return `${parts.filter(Boolean).join('\n\n')}\n`
}

function replacement(own: CargoRegistry, { upstream, by }: NonNullable<CargoSetup['replaced']>) {
  const source = isOfCratesIo(upstream) ? CRATES_IO : upstream.index
  const table = by === own ? '' : `[registries.${by.name}]\nindex = "${by.index}"\n\n`
  return `# The crates of ${source === CRATES_IO ? 'crates.io' : source} come from here;
# Cargo.lock names them as before.
${table}${sourceTable(source, by.name)}`
}

/** Returns the table that has a source of Cargo take the place of a registry, by its index URL. */
export function sourceTable(index: string, by: string): string {
  const url = JSON.stringify(index)
  const source = isCratesIo(index) ? '[source.crates-io]' : `[source.${url}]\nregistry = ${url}`
  return `${source}\nreplace-with = "${by}"`
}

/** Whether an upstream has the crates of crates.io: by its index, or by its name for a copy. */
export function isOfCratesIo({ name, index }: SetupUpstream): boolean {
  return name === 'crates-io' || isCratesIo(index)
}
