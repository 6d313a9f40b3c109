/** The used parts of `highlight.js/lib/core`; its own types would declare browser globals. */
export type Grammar = (hljs: unknown) => Mode

export interface Mode {
  begin?: unknown
  readonly contains?: readonly Mode[]
  readonly variants?: readonly Mode[]
}

declare const hljs: {
  /** A mode that ends with the text of its begin's first group. */
  END_SAME_AS_BEGIN(mode: object): object
  registerLanguage(name: string, grammar: Grammar): void
  registerAliases(aliases: string[], options: { languageName: string }): void
  getLanguage(name: string): object | undefined
  listLanguages(): string[]
  highlight(code: string, options: object): { readonly value: string }
}
export default hljs
