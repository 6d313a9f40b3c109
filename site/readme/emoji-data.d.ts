/** The emoji of `markdown-it-emoji` by name; its types leave this file out. */
declare const emoji: Readonly<Record<string, string>>
export default emoji
