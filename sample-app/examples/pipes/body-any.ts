// A body that is no object, unknown keys that are refused, and a check that has to wait.
// $ curl --json '[{"name":"Foo"}]' '/items/'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

// Any schema of Valibot will do. `v.strictObject` refuses unknown keys.
const Item = v.strictObject({ name: v.string(), tags: v.optional(v.array(v.string()), []) })
const Items = v.pipe(v.array(Item), v.maxLength(100))

const taken = new Set(['root'])
// An asynchronous schema may ask a database.
const isFree = v.checkAsync((name: string) => Promise.resolve(!taken.has(name)), 'It is taken')
const Name = v.pipeAsync(v.string(), isFree)

export default new Hono()
  .post('/items/', valid('json', Items), complete, c => c.json(c.req.valid('json')))
  .post('/names/', valid('json', Name), complete, c => c.json({ name: c.req.valid('json') }))
