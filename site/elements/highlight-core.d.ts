/** What we use of `highlight.js/lib/core`; its own types pull the globals of browsers into everything. */
export type Grammar = (hljs: unknown) => object

declare const hljs: {
  registerLanguage(name: string, grammar: Grammar): void
  registerAliases(aliases: string[], options: { languageName: string }): void
  getLanguage(name: string): object | undefined
  listLanguages(): string[]
  highlight(
    code: string,
    options: { language: string; ignoreIllegals: boolean },
  ): { readonly value: string }
}
export default hljs
