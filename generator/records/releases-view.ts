/** Returns the releases that anybody may see, for a FROM or JOIN: what shows releases reads these. */
export const releasesAs = (alias: string) => `releases AS ${alias}`

export const RELEASES = releasesAs('releases')
