/** What we use of `highlight.js/lib/core`; its own types pull the globals of browsers into everything. */
export type Grammar = (hljs: unknown) => object

declare const hljs: {
  registerLanguage(name: string, grammar: Grammar): void
  getLanguage(name: string): object | undefined
  highlight(
    code: string,
    options: { language: string; ignoreIllegals: boolean },
  ): { readonly value: string }
}
export default hljs
