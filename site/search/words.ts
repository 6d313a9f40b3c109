/** Words that say nothing about a crate. */
const STOP = new Set(
  'a an and are as at be by can crate crates for from has in into is it its not of on or rust that the this to use used using with you your'.split(
    ' ',
  ),
)

/** Longest part of a word that is compared. */
const WORD_MAX = 24

/** The form in which two names are the same: lowercase, `-` and spaces as `_`. */
export function canonical(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
}

/** The words of a text, lowercase, each once. */
export function words(text: string): string[] {
  const all = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return [...new Set(all.map(word => (word.length > WORD_MAX ? [...word].slice(0, WORD_MAX).join('') : word)))]
}

/** The words of a description that are worth finding it by. */
export function tellingWords(text: string): string[] {
  return words(text).filter(word => word.length > 1 && !STOP.has(word))
}

/** The words of a query; words that say nothing count only when there are no others. */
export function queryWords(text: string): string[] {
  const all = words(text)
  const telling = all.filter(word => !STOP.has(word))
  return telling.length > 0 ? telling : all
}
