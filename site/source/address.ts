/** The source browser of a version; its file tree. */
export function sourcePath(name: string, version: string): string {
  return `crates/${name}/${version}/src/index.html`
}
