import { listPath } from './tree.ts'

export const KEYWORDS_FOLDER = 'keywords'
export const keywordsPath = `${KEYWORDS_FOLDER}/index.html`

export const CATEGORIES_FOLDER = 'categories'
export const categoriesPath = `${CATEGORIES_FOLDER}/index.html`

export const USERS_FOLDER = 'users'

export const statisticsPath = 'statistics/index.html'

export type ListOrder = 'name' | 'dependents' | 'updated' | 'newest'

/** Folder of the pages of the list of all crates that no prefix has. */
export const LISTS_FOLDER = 'lists'

/** Returns the path of a page of the list of all crates; `page` counts from 1. */
export function orderedListPath(order: ListOrder, page: number): string {
  if (order === 'name' && page === 1) return listPath('')
  return `${LISTS_FOLDER}/${order}${page === 1 ? '' : `-${page}`}.html`
}

/** The folders that contain nothing but pages of keywords, categories, users and lists. */
export const OVERVIEW_FOLDERS = [KEYWORDS_FOLDER, CATEGORIES_FOLDER, USERS_FOLDER, LISTS_FOLDER]

export const apiPagePath = 'api/index.html'

export const faviconPath = 'favicon.ico'

/**
 * Returns the path of the page of a keyword, the same for all spellings in upper and lower case;
 * null for a text that is no safe name of a folder. Cargo warns about such keywords, and crates.io
 * refuses them.
 */
export function keywordPath(keyword: string): string | null {
  const slug = slugOf(keyword)
  return slug === null ? null : `${KEYWORDS_FOLDER}/${slug}/index.html`
}

/**
 * Returns the path of the page of a category such as `development-tools::cargo-plugins`, the same
 * for all spellings in upper and lower case; null for a text that cannot be a slug of crates.io.
 */
export function categoryPath(category: string): string | null {
  const slugs = category.split('::').map(slugOf)
  if (slugs.length > MAX_LEVELS || slugs.includes(null)) return null
  return `${CATEGORIES_FOLDER}/${slugs.join('/')}/index.html`
}

/** Returns the path of the page of a user; `login` is a valid username. */
export function userPath(login: string): string {
  return `${USERS_FOLDER}/${folderName(login.toLowerCase())}/index.html`
}

const MAX_LEVELS = 4

/** Keywords and categories of crates.io have at most 50 characters. */
function slugOf(text: string): string | null {
  return /^[a-z0-9][a-z0-9_+-]{0,63}$/i.test(text) ? folderName(text.toLowerCase()) : null
}

/** Renames what Windows or some servers cannot have as a folder; no other name begins with `_`. */
function folderName(name: string): string {
  const isDevice = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/.test(name)
  return isDevice || /\.(?:html?)?$/.test(name) ? `_${name}~` : name
}
