/** Decodes `%` escapes; like browsers, takes a text with an invalid one literally. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
