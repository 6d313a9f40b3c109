// A parameter that takes slashes.
// $ curl '/file/home/me/notes.txt'
import { Hono } from 'hono'

// `{…}` is a regular expression that a parameter must match, over the path as it was sent. This one
// takes slashes, may be empty, and stops at a line break.
const path = '/file/:file_path{(?:(?!%0A).)*}'

// The path is echoed and nothing else: never open a file by a name from outside.
export default new Hono().get(path, c => c.json({ file_path: c.req.param('file_path') }))
