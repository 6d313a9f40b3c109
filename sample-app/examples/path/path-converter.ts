import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

// Hono's `{…}` is a regular expression that a parameter must match, over the path as it was
// encoded. This one takes slashes, may be empty, and stops at a line break.
const path = '/file/:file_path{(?:(?!%0A).)*}'

// The path is echoed and nothing else: never open a file by a name from outside.
export const app = new Hono().get(path, ask({ path: { file_path: v.string() } }), c => {
  return c.json({ file_path: c.var.path.file_path })
})

export const about = 'A parameter that takes slashes.'
export const request = '/file/home/me/notes.txt'
