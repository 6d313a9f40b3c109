/** The parts of `highlight.js/lib/core` in use; its own types would declare browser globals. */
export type Grammar = (hljs: unknown) => object

declare const hljs: {
  registerLanguage(name: string, grammar: Grammar): void
  registerAliases(aliases: string[], options: { languageName: string }): void
  getLanguage(name: string): object | undefined
  listLanguages(): string[]
  highlight(code: string, options: object): { readonly value: string }
}
export default hljs
