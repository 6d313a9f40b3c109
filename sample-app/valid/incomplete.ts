import type { Hono } from 'hono'
import { findTargetHandler } from 'hono/utils/handler'
import { complete, declared } from './valid.ts'

/** The routes with a `valid` and no `complete` behind it: ask when an app is built, or in a test. */
export function incomplete({ routes }: Pick<Hono, 'routes'>): string[] {
  const open = new Set<string>()
  for (const { method, path, handler } of routes) {
    const target = findTargetHandler(handler)
    if (declared.has(target)) open.add(`${method} ${path}`)
    else if (target === complete) open.delete(`${method} ${path}`)
  }
  return [...open]
}
