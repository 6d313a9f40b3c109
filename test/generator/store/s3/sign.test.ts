import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  encodePath,
  presignedQuery,
  queryText,
  signedHeaders,
} from '../../../../generator/store/s3/sign.ts'

// The examples of "Authenticating Requests (AWS Signature Version 4)" in the documents of S3.
const scope = {
  credentials: {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  },
  region: 'us-east-1',
  now: new Date('2013-05-24T00:00:00Z'),
}
const host = 'examplebucket.s3.amazonaws.com'
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

test('a GET of a range is signed as in the documents', () => {
  const request = {
    method: 'GET',
    host,
    path: '/test.txt',
    query: {},
    headers: { range: 'bytes=0-9' },
  }
  const { authorization } = signedHeaders(request, sha256(''), scope)
  assert.equal(
    authorization,
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  )
})

test('a PUT with a body is signed as in the documents', () => {
  const headers = {
    date: 'Fri, 24 May 2013 00:00:00 GMT',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
  }
  const request = { method: 'PUT', host, path: encodePath('/test$file.text'), query: {}, headers }
  const { authorization } = signedHeaders(request, sha256('Welcome to Amazon S3.'), scope)
  assert.match(
    authorization,
    /Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd$/,
  )
})

test('an address is presigned as in the documents', () => {
  const request = { method: 'GET', host, path: '/test.txt', query: {}, headers: {} }
  assert.match(
    presignedQuery(request, 86_400, scope),
    /&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404$/,
  )
})

test('a list is signed as in the documents', () => {
  const query = { prefix: 'J', 'max-keys': '2' }
  const request = { method: 'GET', host, path: '/', query, headers: {} }
  assert.match(
    signedHeaders(request, sha256(''), scope).authorization,
    /Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7$/,
  )
})

test('temporary keys send their token, signed', () => {
  const credentials = { ...scope.credentials, sessionToken: 'the token' }
  const request = { method: 'GET', host, path: '/', query: {}, headers: {} }
  const headers = signedHeaders(request, sha256(''), { ...scope, credentials })
  assert.equal(headers['x-amz-security-token'], 'the token')
  assert.match(headers.authorization, /;x-amz-security-token,/)
  assert.match(
    presignedQuery(request, 60, { ...scope, credentials }),
    /X-Amz-Security-Token=the%20token&/,
  )
})

test('paths and queries are encoded byte by byte', () => {
  assert.equal(encodePath("a b/c+d/ü!'()*"), 'a%20b/c%2Bd/%C3%BC%21%27%28%29%2A')
  assert.equal(queryText({ b: '1', a: 'x/y', 'a-b': '' }), 'a=x%2Fy&a-b=&b=1')
})
