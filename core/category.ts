/** The slugs of the categories of crates.io (`src/boot/categories.toml`, August 2026). */
export const CRATES_IO_CATEGORIES: readonly string[] = `
    accessibility aerospace aerospace::drones aerospace::protocols aerospace::simulation
    aerospace::space-protocols aerospace::unmanned-aerial-vehicles algorithms api-bindings
    artificial-intelligence asynchronous authentication automotive caching
    command-line-interface command-line-utilities compilers compression computer-vision
    concurrency config cryptography cryptography::cryptocurrencies data-structures database
    database-implementations date-and-time development-tools development-tools::build-utils
    development-tools::cargo-plugins development-tools::debugging development-tools::ffi
    development-tools::procedural-macro-helpers development-tools::profiling
    development-tools::testing email embedded emulators encoding external-ffi-bindings
    filesystem finance game-development game-engines games graphics gui hardware-support
    internationalization localization mathematics memory-management multimedia multimedia::audio
    multimedia::encoding multimedia::images multimedia::video network-programming no-std
    no-std::no-alloc os os::android-apis os::freebsd-apis os::linux-apis os::macos-apis
    os::unix-apis os::windows-apis parser-implementations parsing rendering
    rendering::data-formats rendering::engine rendering::graphics-api rust-patterns science
    science::bioinformatics science::bioinformatics::genomics
    science::bioinformatics::proteomics science::bioinformatics::sequence-analysis
    science::computational-biology science::computational-biology::structural-modeling
    science::computational-biology::systems-biology science::computational-chemistry
    science::computational-chemistry::cheminformatics
    science::computational-chemistry::electronic-structure
    science::computational-chemistry::molecular-simulation science::geo science::materials
    science::neuroscience science::quantum-computing science::robotics security simulation
    template-engine text-editors text-processing value-formatting virtualization visualization
    wasm web-programming web-programming::http-client web-programming::http-server
    web-programming::websocket`
  .trim()
  .split(/\s+/)

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
