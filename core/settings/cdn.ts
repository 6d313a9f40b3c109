import { jsonIn } from '../plain-data.ts'
import { choice, file, hasScheme, isLine, maybe, row, text } from './kind.ts'

const purgeUrl = text(
  'an absolute http or https URL, perhaps with {url}, {path} or {key}',
  value => isLine(value) && hasScheme(value.replace(/\{(?:url|path|key)\}/g, 'x'), 'http', 'https'),
)

const LIST = /\{(?:urls|keys)\}/

const purgeBody = text(
  'JSON with {urls} or {keys} in place of one list, such as {"tags": {keys}}',
  value => value.split(LIST).length === 2 && jsonIn(value.replace(LIST, '[]')) !== undefined,
)

/** Every key header that CDNs know ends like this; `ETag` does, too, but means something else. */
const keyHeader = text(
  'the name of a header that ends in "Key", "Tag" or "Tags", such as "Surrogate-Key"',
  value => /^[A-Za-z][A-Za-z0-9-]{0,60}(?:key|tags?)$/i.test(value) && !/^etags?$/i.test(value),
)

// biome-ignore format: a table has a line for each setting
export const cdnRows = {
  purge_url: row(maybe(purgeUrl), null, 'Where the daemon tells a CDN what has changed: with a request for each address or key, or with a list of up to 30 in one request.'),
  purge_method: row(choice('POST', 'PURGE', 'DELETE'), 'POST', 'Method of these requests.'),
  purge_headers: row(maybe(file), null, 'File with lines `Name: value` that are sent as headers, such as the key of the account.'),
  purge_body: row(maybe(purgeBody), null, 'Body of these requests; without it `{"files": {urls}}`, or no body where each address has its own request.'),
  key_header: row(maybe(keyHeader), null, "Header in which the daemon's answers name their keys; the CDN drops answers by key."),
}
