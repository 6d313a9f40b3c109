/** The grammars that code is colored by, each with its other names: of fences, and of files. */
const NAMES: readonly string[] = [
  'bash sh zsh',
  'c h',
  'cpp cc c++ h++ hpp hh hxx cxx',
  'css',
  'diff patch',
  'dockerfile docker',
  'go golang',
  'javascript js jsx mjs cjs',
  'json jsonc json5',
  'makefile mk mak make',
  'markdown md mkd mkdown',
  'python py gyp ipython',
  'rust rs',
  'shell console shellsession',
  'sql',
  'toml ini lock',
  'typescript ts tsx mts cts',
  'xml html xhtml rss atom xjb xsd xsl plist wsf svg',
  'yaml yml',
]

const languages: ReadonlyMap<string, string> = new Map(
  NAMES.flatMap(line => {
    const [language = '', ...aliases] = line.split(' ')
    return [language, ...aliases].map(name => [name, language] as const)
  }),
)

/** Words that rustdoc allows after a fence, alone or after a comma, for Rust code. */
const RUSTDOC =
  /^(should_panic|no_run|ignore|compile_fail|edition\d{4}|standalone_crate|test_harness)$/

/** Returns the language of a fenced block by its info string (`rust,no_run`); null if unknown. */
export function fenceLanguage(info: string): string | null {
  const word = (/^[^\s,{]*/.exec(info.trim())?.[0] ?? '').toLowerCase()
  return RUSTDOC.test(word) ? 'rust' : (languages.get(word) ?? null)
}

/** Returns the language of a file by its name; null without a grammar for it. */
export function fileLanguage(path: string): string | null {
  const file = (path.split('/').at(-1) ?? '').toLowerCase()
  return languages.get(file.slice(file.lastIndexOf('.') + 1)) ?? null
}
