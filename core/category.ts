/** Titles of categories of crates.io that their slugs do not tell. */
const TITLES: ReadonlyMap<string, string> = new Map([
  ['api-bindings', 'API bindings'],
  ['command-line-interface', 'Command-line interface'],
  ['command-line-utilities', 'Command-line utilities'],
  ['config', 'Configuration'],
  ['database', 'Database interfaces'],
  ['embedded', 'Embedded development'],
  ['external-ffi-bindings', 'External FFI bindings'],
  ['ffi', 'FFI'],
  ['gui', 'GUI'],
  ['geo', 'Geospatial'],
  ['graphics-api', 'Graphics APIs'],
  ['http-client', 'HTTP client'],
  ['http-server', 'HTTP server'],
  ['linux-apis', 'Linux APIs'],
  ['macos-apis', 'macOS APIs'],
  ['no-alloc', 'No dynamic allocation'],
  ['no-std', 'No standard library'],
  ['os', 'Operating systems'],
  ['parsing', 'Parsing tools'],
  ['unix-apis', 'Unix APIs'],
  ['wasm', 'WebAssembly'],
  ['windows-apis', 'Windows APIs'],
])

/**
 * Returns the title of a category, without its parents: `web-programming::http-server` is an `HTTP
 * server`. The slug's words are the title of a category that only this registry has.
 */
export function categoryTitle(slug: string): string {
  const own = slug.split('::').at(-1) ?? slug
  const words = own.replaceAll(/[-_]+/g, ' ')
  return TITLES.get(own) ?? words.charAt(0).toUpperCase() + words.slice(1)
}
