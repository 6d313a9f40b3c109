import type { App } from './app.ts'
import { jsonBody } from './examples/body.ts'
import { cookies } from './examples/cookies.ts'
import { dependencies } from './examples/dependencies.ts'
import { dependenciesCache } from './examples/dependencies-cache.ts'
import { dependenciesClass } from './examples/dependencies-class.ts'
import { dependenciesNested } from './examples/dependencies-nested.ts'
import { dependenciesNoCache } from './examples/dependencies-no-cache.ts'
import { forms } from './examples/forms.ts'
import { globalDependencies } from './examples/global-dependencies.ts'
import { headers } from './examples/headers.ts'
import { https } from './examples/https.ts'
import { pathConverter } from './examples/path-converter.ts'
import { pathParams } from './examples/path-params.ts'
import { pathParamsInt } from './examples/path-params-int.ts'
import { pathValidation } from './examples/path-validation.ts'
import { pathValidationFloat } from './examples/path-validation-float.ts'
import { pathValidationStr } from './examples/path-validation-str.ts'
import { queryDefault } from './examples/query-default.ts'
import { queryList } from './examples/query-list.ts'
import { queryMetadata } from './examples/query-metadata.ts'
import { queryMixed } from './examples/query-mixed.ts'
import { queryOptional } from './examples/query-optional.ts'
import { queryParams } from './examples/query-params.ts'
import { queryRequired } from './examples/query-required.ts'
import { queryValidation } from './examples/query-validation.ts'
import { root } from './examples/root.ts'
import { security } from './examples/security.ts'
import { uploads } from './examples/uploads.ts'
import type { Settings } from './settings.ts'

/** One example: how it is made, what it teaches, and a request that shows it (a path, after curl's options if any). */
export interface Example {
  readonly make: (settings: Settings) => App
  readonly teaches: string
  readonly try: string
  readonly options?: string
}

/** All examples by name, in the order to read them. */
export const examples: ReadonlyMap<string, Example> = new Map<string, Example>([
  ['root', { make: root, teaches: 'One path, one answer.', try: '/' }],
  ['path-params', { make: pathParams, teaches: 'Parts of the path as parameters.', try: '/items/5/alice' }],
  [
    'path-params-int',
    { make: pathParamsInt, teaches: 'A parameter that must be a whole number.', try: '/items/5?q=news' },
  ],
  [
    'path-converter',
    { make: pathConverter, teaches: 'A parameter that takes slashes.', try: '/file/home/me/notes.txt' },
  ],
  [
    'path-validation',
    { make: pathValidation, teaches: 'Bounds and a title for a path parameter.', try: '/items/1001' },
  ],
  [
    'path-validation-float',
    { make: pathValidationFloat, teaches: 'Bounds for numbers that need not be whole.', try: '/items/0.4' },
  ],
  [
    'path-validation-str',
    { make: pathValidationStr, teaches: 'Length and pattern of a path parameter.', try: '/items/A' },
  ],
  ['query-params', { make: queryParams, teaches: 'Query parameters with defaults.', try: '/items/?skip=1&limit=1' }],
  [
    'query-optional',
    { make: queryOptional, teaches: 'A query parameter that may be absent.', try: '/items/foo?q=news' },
  ],
  ['query-required', { make: queryRequired, teaches: 'A query parameter that must not be absent.', try: '/items/foo' }],
  [
    'query-mixed',
    { make: queryMixed, teaches: 'Path and query together; yes and no.', try: '/users/1/items/foo?short=yes' },
  ],
  [
    'query-validation',
    { make: queryValidation, teaches: 'A longest length, in characters.', try: '/items/?q=fixedquery' },
  ],
  ['query-list', { make: queryList, teaches: 'A parameter that is repeated.', try: '/items/?q=foo&q=bar' }],
  [
    'query-metadata',
    {
      make: queryMetadata,
      teaches: 'An alias, a title, a pattern, a deprecation.',
      try: '/items/?item-query=fixedquery',
    },
  ],
  ['query-default', { make: queryDefault, teaches: 'A default other than null.', try: '/items/' }],
  [
    'body',
    {
      make: jsonBody,
      teaches: 'A JSON body, checked field by field.',
      try: '/items/',
      options: `--json '{"name":"Foo","price":50.2}'`,
    },
  ],
  ['cookies', { make: cookies, teaches: 'A cookie.', try: '/items/', options: '--cookie ads_id=abc' }],
  [
    'headers',
    { make: headers, teaches: 'Headers, one of them a number.', try: '/items/', options: `--header 'Items-ID: 5'` },
  ],
  [
    'forms',
    {
      make: forms,
      teaches: 'Form fields, urlencoded or multipart.',
      try: '/login/',
      options: '--data username=Foo --data password=bar',
    },
  ],
  [
    'uploads',
    {
      make: uploads,
      teaches: 'A file of any size in bounded memory, and a form to send it.',
      try: '/uploadfile/',
      options: '--form file=@README.md',
    },
  ],
  [
    'dependencies',
    { make: dependencies, teaches: 'What several paths share, declared once.', try: '/users/?q=foo&limit=30' },
  ],
  [
    'dependencies-class',
    { make: dependenciesClass, teaches: 'A dependency that is an instance of a class.', try: '/items/?q=foo&skip=1' },
  ],
  [
    'dependencies-nested',
    {
      make: dependenciesNested,
      teaches: 'A dependency of a dependency.',
      try: '/items/1',
      options: '--cookie last_query=shoes',
    },
  ],
  [
    'dependencies-cache',
    { make: dependenciesCache, teaches: 'One result per request: the numbers are equal.', try: '/value/' },
  ],
  [
    'dependencies-no-cache',
    { make: dependenciesNoCache, teaches: 'A new result at each place: the numbers are independent.', try: '/value/' },
  ],
  [
    'global-dependencies',
    {
      make: globalDependencies,
      teaches: 'Checks for every path of an application.',
      try: '/items/',
      options: `--header 'X-Token: fake-super-secret-token' --header 'X-Key: fake-super-secret-key'`,
    },
  ],
  [
    'security',
    {
      make: security,
      teaches: 'A login: password to bearer token to user.',
      try: '/users/me',
      options: `--header 'Authorization: Bearer johndoe'`,
    },
  ],
  ['https', { make: https, teaches: 'TLS with a certificate and a key of your own.', try: '/https' }],
])
