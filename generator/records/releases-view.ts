/** Returns the releases that anybody may see, for a FROM or JOIN: what shows releases reads these. */
export const releasesAs = (alias: string) => `releases AS ${alias}`

export const RELEASES = releasesAs('releases')

/** The deprecations of a crate as JSON, in a statement on a table with its id. */
export function deprecationsOf(crateId: string): string {
  return `(SELECT json_group_array(json_object('requirement', requirement, 'reason', reason,
    'use', successor)) FROM deprecations WHERE deprecations.crate_id = ${crateId}) AS deprecations`
}

/** Why a release is yanked; an older daemon that undoes a yank leaves the reason behind. */
export const YANK_REASON = 'CASE WHEN releases.yanked = 1 THEN yank_reason END AS "yankReason"'
