import { addGrammar, color, hasGrammar } from '../../../elements/highlight.ts'
import { fenceLanguage, fileLanguage } from '../../../elements/languages.ts'
import { IMAGE_PREFIX } from '../../../source/content.ts'
import { type Block, blocksOf, splitLines, visible } from '../../../source/lines.ts'
import { serve } from './serve.ts'

/** The grammars, each loaded when it is first needed. */
const GRAMMARS: ReadonlyMap<
  string,
  () => Promise<{ readonly default: Parameters<typeof addGrammar>[1] }>
> = new Map([
  ['bash', () => import('highlight.js/lib/languages/bash')],
  ['c', () => import('highlight.js/lib/languages/c')],
  ['cpp', () => import('highlight.js/lib/languages/cpp')],
  ['css', () => import('highlight.js/lib/languages/css')],
  ['diff', () => import('highlight.js/lib/languages/diff')],
  ['dockerfile', () => import('highlight.js/lib/languages/dockerfile')],
  ['go', () => import('highlight.js/lib/languages/go')],
  ['javascript', () => import('highlight.js/lib/languages/javascript')],
  ['json', () => import('highlight.js/lib/languages/json')],
  ['makefile', () => import('highlight.js/lib/languages/makefile')],
  ['python', () => import('highlight.js/lib/languages/python')],
  ['rust', () => import('highlight.js/lib/languages/rust')],
  ['shell', () => import('highlight.js/lib/languages/shell')],
  ['sql', () => import('highlight.js/lib/languages/sql')],
  ['toml', () => import('highlight.js/lib/languages/ini')],
  ['typescript', () => import('highlight.js/lib/languages/typescript')],
  ['xml', () => import('highlight.js/lib/languages/xml')],
  ['yaml', () => import('highlight.js/lib/languages/yaml')],
])

/** A Markdown file, and the targets of its links. */
export interface Document {
  readonly path: string
  readonly text: string
  readonly repository: string | null
  readonly vcsPath: string | null
  readonly images: 'link' | 'load'
  readonly paths: readonly string[]
  /** The addresses in the page of the files to which it may link, in the order of `paths`. */
  readonly addresses: readonly string[]
}

const tasks = {
  async code({ path, text }: { readonly path: string; readonly text: string }): Promise<Block[]> {
    return blocksOf(await coloredLines(path, text), visible(text).split('\n'))
  },

  async lines({ path, text }: { readonly path: string; readonly text: string }): Promise<string[]> {
    return coloredLines(path, text)
  },

  async document(file: Document): Promise<string> {
    const { packagedFile, renderReadme } = await import('../../../readme/render.ts')
    const { path, text, repository, vcsPath, images, paths, addresses } = file
    const fences = text.matchAll(/^[ \t>*+-]*(?:`{3,}|~{3,})(.*)$/gm)
    await load(...Array.from(fences, ([, info = '']) => fenceLanguage(info)))
    const about = { repository, ...(vcsPath !== null && { vcs_path: vcsPath }), readme_file: path }
    const places = new Map(paths.map((path, at) => [path, addresses[at] ?? '']))
    const pictures = paths.filter(path => /\.(?:png|jpe?g|gif|webp)$/i.test(path))
    const unknown = { width: null, height: null, bytes: 0 }
    const packaged = new Map(pictures.map(path => [path, { src: IMAGE_PREFIX + path, ...unknown }]))
    const folder = path.slice(0, path.lastIndexOf('/') + 1)
    const inside = (link: string) => places.get(packagedFile(link, folder) ?? '') ?? null
    return renderReadme({ text, about, images, packaged }, inside).html
  },
}

async function coloredLines(path: string, text: string): Promise<string[]> {
  const language = fileLanguage(path)
  await load(language)
  return splitLines(color(visible(text), language).toString())
}

async function load(...languages: readonly (string | null)[]): Promise<void> {
  for (const language of new Set(languages)) {
    const grammar = GRAMMARS.get(language ?? '')
    if (language !== null && grammar && !hasGrammar(language))
      addGrammar(language, (await grammar()).default)
  }
}

export type RenderTasks = typeof tasks

serve(tasks)
